//! Where skills come from. Each source gives the files of a whole repository or archive; [`find`]
//! alone decides which folder of it is the skill.

pub mod find;
pub mod git;
pub mod github;
pub mod local;
pub mod skills_sh;
pub mod well_known;
