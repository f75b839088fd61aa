//! Float loops of the encoder, compiled once per level.
//!
//! The arithmetic is that of `model::math`, in its order; wider registers change the speed and not
//! one bit of the result.
#![cfg_attr(
    target_arch = "x86_64",
    allow(
        unsafe_code,
        reason = "a call into a function compiled for instructions that were detected"
    )
)]

use super::KernelLevel;
use crate::math;

macro_rules! per_level {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $kind:ty),*) $(-> $out:ty)?) => {
        $(#[$doc])*
        pub(crate) fn $name(level: KernelLevel, $($arg: $kind),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $kind),*) $(-> $out)? {
                    math::$name($($arg),*)
                }
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512($($arg: $kind),*) $(-> $out)? {
                    math::$name($($arg),*)
                }
                match level {
                    // SAFETY: a level is only ever detected (see `KernelLevel::available`), never assumed.
                    KernelLevel::Avx2 => return unsafe { avx2($($arg),*) },
                    // SAFETY: as above; the level asks for all four features.
                    KernelLevel::Avx512Vnni => return unsafe { avx512($($arg),*) },
                    KernelLevel::Scalar | KernelLevel::Neon => {}
                }
            }
            let _ = level;
            math::$name($($arg),*)
        }
    };
}

per_level!(
    /// See [`math::gelu`].
    gelu(values: &mut [f32])
);
per_level!(
    /// See [`math::quantise`].
    quantise(values: &[f32], out: &mut [i8]) -> f32
);
per_level!(
    /// See [`math::layer_norm`].
    layer_norm(values: &mut [f32], weight: &[f32], bias: &[f32], eps: f32)
);
per_level!(
    /// See [`math::attend`].
    attend(qkv: &[f32], dims: usize, head: usize, size: usize, room: &mut [f32], mixed: &mut [f32])
);
per_level!(
    /// See [`math::rescale`].
    rescale(out: &mut [f32], sums: &[i32], scale: f32, rows: &[f32], bias: &[f32])
);
