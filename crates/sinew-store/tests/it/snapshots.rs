//! Snapshots: a cache that only moves forwards.

use sinew_store::{FoldSnapshot, RecordSeq, SnapshotWrite};

fn snapshot(through: u64, tag: &str, body: &[u8]) -> FoldSnapshot {
    FoldSnapshot { through: RecordSeq(through), tag: tag.to_owned(), body: body.to_vec() }
}

on_both! {
    fn a_snapshot_moves_forwards_only(world) {
        let store = world.open();
        assert_eq!(store.snapshot("cortex").unwrap(), None);
        for (offered, expected) in [
            (snapshot(5, "v1", b"\0five\xff"), SnapshotWrite::New),
            (snapshot(5, "v1", b"again"), SnapshotWrite::Old),
            (snapshot(4, "v1", b"four"), SnapshotWrite::Old),
            (snapshot(9, "v1", b"nine"), SnapshotWrite::New),
            (snapshot(2, "v2", b"by other rules"), SnapshotWrite::New),
            (snapshot(9, "v1", b"nine"), SnapshotWrite::New),
        ] {
            let before = store.snapshot("cortex").unwrap();
            assert_eq!(store.put_snapshot("cortex", offered.clone()).unwrap(), expected, "{offered:?}");
            let after = if expected == SnapshotWrite::New { Some(offered) } else { before };
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
        assert_eq!(store.put_snapshot("cortex", snapshot(1, "v1", b"")).unwrap(), SnapshotWrite::New);
        assert_eq!(store.snapshot("cortex").unwrap().unwrap().body, b"");
    }
}
