//! Snapshots: a cache that only moves forwards.

use sinew_store::{Kept, Seq, Snapshot};

fn snapshot(through: u64, tag: &str, body: &[u8]) -> Snapshot {
    Snapshot { through: Seq(through), tag: tag.to_owned(), body: body.to_vec() }
}

on_both! {
    fn a_snapshot_moves_forwards_only(world) {
        let store = world.open();
        assert_eq!(store.snapshot("cortex").unwrap(), None);
        for (offered, kept) in [
            (snapshot(5, "v1", b"\0five\xff"), Kept::New),
            (snapshot(5, "v1", b"again"), Kept::Old),
            (snapshot(4, "v1", b"four"), Kept::Old),
            (snapshot(9, "v1", b"nine"), Kept::New),
            (snapshot(2, "v2", b"by other rules"), Kept::New),
            (snapshot(9, "v1", b"nine"), Kept::New),
        ] {
            let before = store.snapshot("cortex").unwrap();
            assert_eq!(store.put_snapshot("cortex", offered.clone()).unwrap(), kept, "{offered:?}");
            let after = if kept == Kept::New { Some(offered) } else { before };
            assert_eq!(store.snapshot("cortex").unwrap(), after);
        }
        assert_eq!(store.snapshot("other").unwrap(), None);
    }

    fn a_snapshot_that_disagrees_is_dropped(world) {
        let store = world.open();
        store.put_snapshot("cortex", snapshot(9, "v1", b"wrong")).unwrap();
        store.drop_snapshot("cortex").unwrap();
        store.drop_snapshot("cortex").unwrap();
        assert_eq!(store.snapshot("cortex").unwrap(), None);
        assert_eq!(store.put_snapshot("cortex", snapshot(1, "v1", b"")).unwrap(), Kept::New);
        assert_eq!(store.snapshot("cortex").unwrap().unwrap().body, b"");
    }
}
