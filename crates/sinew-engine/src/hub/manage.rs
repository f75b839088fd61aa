//! Changes of what is installed: removed, pinned, kept for good, taken into the lock.

use serde_json::json;
use sinew_hub::lock::LockEntry;
use sinew_hub::{HubError, RestoredSkill, UninstalledSkill, Workdir};
use sinew_settings::{Actor, ErrorCode};

use super::policy::PolicyHub;

impl PolicyHub<'_> {
    /// Removes an installed skill, and records who did. Only a person can.
    pub fn uninstall(
        &self,
        wanted: &str,
        workdir: &Workdir,
        actor: &Actor,
    ) -> Result<UninstalledSkill, HubError> {
        self.engine.check_hub_gate()?;
        if matches!(actor, Actor::Agent { .. }) {
            return Err(HubError::new(ErrorCode::NeedsPerson, "only a person can remove a skill")
                .hint("run `sinew uninstall` in a terminal, or remove it on the dashboard"));
        }
        let removed = self.hub.uninstall(self.permit_change(wanted), workdir)?;
        let set = json!({"key": "installed", "before": removed.version, "after": "(removed)"});
        self.engine.settings().note_set(&removed.key, actor, &[set]);
        Ok(removed)
    }

    /// Keeps an installed skill at its version for a reason, or frees it, and records who did. An
    /// agent may hold one fast, but not undo what a person decided.
    pub fn pin(
        &self,
        wanted: &str,
        pin: Option<Option<String>>,
        workdir: &Workdir,
        actor: &Actor,
    ) -> Result<(String, LockEntry), HubError> {
        self.engine.check_hub_gate()?;
        if pin.is_none() && matches!(actor, Actor::Agent { .. }) {
            return Err(HubError::new(ErrorCode::NeedsPerson, "only a person can unpin a skill")
                .hint("run `sinew pin --remove` in a terminal, or free it on the dashboard"));
        }
        let (key, entry) = self.hub.pin(self.permit_change(wanted), pin, workdir)?;
        let (free, held) = ("(free)", entry.version.as_str());
        let (before, after) = if entry.pinned { (free, held) } else { (held, free) };
        let set = json!({"key": "version", "before": before, "after": after});
        self.engine.settings().note_set(&key, actor, &[set]);
        Ok((key, entry))
    }

    /// Adds skills that other tools installed here to the lock. They are held back until a person
    /// approves them.
    pub fn import(&self, workdir: &Workdir) -> Result<Vec<RestoredSkill>, HubError> {
        self.engine.check_hub_gate()?;
        self.hub.import(self.permit_import(), workdir)
    }
}
