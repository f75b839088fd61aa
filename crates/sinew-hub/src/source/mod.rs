//! Where skills come from. Each source gives a whole repository or archive of files; which folder
//! of it is the skill is decided in one place, [`find`].

pub mod find;
pub mod git;
pub mod github;
pub mod local;
pub mod skills_sh;
pub mod well_known;
