//! The tree of a program: what is called, assigned and handed on. Types, operators' ranks and control
//! flow are left out, because a flow of values does not need them.

use std::rc::Rc;

/// The member that stands for one of the elements of a value.
pub(crate) const ELEMENT: &str = "[]";
/// The member that stands for a value read backwards.
pub(crate) const REVERSED: &str = "[::-1]";

/// The languages that are read as programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramLanguage {
    Python,
    /// JavaScript and TypeScript: types are skipped.
    JavaScript,
}

/// A value that a program computes.
#[derive(Debug, Clone)]
pub(crate) enum ProgramExpr {
    Nothing,
    Text(Rc<str>),
    Number(i64),
    Name(Rc<str>),
    Member(Box<ProgramExpr>, Rc<str>),
    Index(Box<ProgramExpr>, Box<ProgramExpr>),
    Call(Box<ProgramCall>),
    Binary(char, Box<ProgramExpr>, Box<ProgramExpr>),
    /// A string with values in it, and a conditional's or a boolean's sides.
    Template(Vec<ProgramExpr>),
    Either(Vec<ProgramExpr>),
    List(Vec<ProgramExpr>),
    Object(Vec<(Option<ProgramExpr>, ProgramExpr)>),
    /// True or false: says little about what it looked at.
    Test(Vec<ProgramExpr>),
    Function(Rc<ProgramFunction>),
    Comprehension {
        element: Box<ProgramExpr>,
        loops: Vec<(ProgramTarget, ProgramExpr)>,
        tests: Vec<ProgramExpr>,
    },
    /// One of the values that a generator gives; or those of another.
    Yield(Box<ProgramExpr>, YieldMode),
    Bind(Box<ProgramTarget>, Box<ProgramExpr>, BindMode),
}

/// What a generator gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum YieldMode {
    One,
    /// `yield from`
    Each,
}

/// How an assignment treats the value before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BindMode {
    Replace,
    /// `+=`
    Add,
    /// `const`, `let`, `var`: in this scope.
    Declare,
}

/// A call, with its line from 0.
#[derive(Debug, Clone)]
pub(crate) struct ProgramCall {
    pub(crate) function: ProgramExpr,
    pub(crate) arguments: Vec<ProgramArgument>,
    pub(crate) line: usize,
}

/// An argument, with its name if it has one.
#[derive(Debug, Clone)]
pub(crate) struct ProgramArgument {
    pub(crate) name: Option<Rc<str>>,
    pub(crate) value: ProgramExpr,
}

/// What an assignment binds.
#[derive(Debug, Clone)]
pub(crate) enum ProgramTarget {
    Name(Rc<str>),
    /// A member or an element of something.
    Place(ProgramExpr),
    /// Parts of a value: the field each is taken from, if it is named.
    Parts(Vec<(Option<Rc<str>>, ProgramTarget)>),
}

/// A function, with what it is called and takes.
#[derive(Debug)]
pub(crate) struct ProgramFunction {
    pub(crate) parameters: Vec<(ProgramTarget, Option<ProgramExpr>)>,
    pub(crate) body: Vec<ProgramStatement>,
}

/// One step of a program.
#[derive(Debug)]
pub(crate) enum ProgramStatement {
    Expr(ProgramExpr),
    Function(Rc<str>, Rc<ProgramFunction>),
    Class(Rc<str>, Vec<ProgramStatement>),
    /// What may or may not run.
    Block(Vec<ProgramStatement>),
    Return(ProgramExpr),
    Import(ProgramImport),
    /// Names that belong to the module.
    Global(Vec<Rc<str>>),
}

/// What a module takes from another.
#[derive(Debug)]
pub(crate) struct ProgramImport {
    pub(crate) module: Rc<str>,
    /// The name there and here; an empty name there is the module itself, `*` everything.
    pub(crate) names: Vec<(Rc<str>, Rc<str>)>,
}
