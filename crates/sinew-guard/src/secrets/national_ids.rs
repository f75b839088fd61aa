//! Numbers that states give to persons, by form and check digit.
//!
//! Forms that other numbers share (a tax number of nine digits) count only beside their names; that
//! is part of their patterns in `secrets.json`.

use serde::Deserialize;

/// The rule that a number must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum NationalIdCheck {
    /// United States: no area 000, 666 or 9xx, no group 00, no serial 0000.
    SocialSecurity,
    /// Spain: a letter by the remainder of 23, also behind X, Y or Z.
    Spain,
    /// Brazil: two check digits.
    Brazil,
    /// China: ISO 7064, mod 11-2, and a date of birth.
    China,
    /// France: 97 minus the remainder.
    France,
    /// Germany: ISO 7064, mod 11-10.
    Germany,
    /// Korea: a month and a day.
    Korea,
    /// Italy: a letter by the weights of the characters.
    Italy,
    /// India: Verhoeff's check digit.
    India,
    /// Japan: a check digit by weights.
    Japan,
}

impl NationalIdCheck {
    /// Whether a number passes.
    pub(super) fn accepts(self, value: &str) -> bool {
        let signs: Vec<char> = value.chars().filter(char::is_ascii_alphanumeric).collect();
        let digits: Vec<u32> = signs.iter().filter_map(|c| c.to_digit(10)).collect();
        if digits.windows(2).all(|pair| pair[0] == pair[1]) {
            return false;
        }
        match self {
            Self::SocialSecurity => social_security(&digits),
            Self::Spain => spain(&signs),
            Self::Brazil => brazil(&digits),
            Self::China => china(&signs, &digits),
            Self::France => france(&digits),
            Self::Germany => germany(&digits),
            Self::Korea => digits.len() == 13 && is_day(digits[2], digits[3], digits[4], digits[5]),
            Self::Italy => italy(&signs),
            Self::India => india(&digits),
            Self::Japan => japan(&digits),
        }
    }
}

fn number(digits: &[u32]) -> u64 {
    digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(*digit))
}

fn is_day(month_tens: u32, month: u32, day_tens: u32, day: u32) -> bool {
    (1..=12).contains(&(month_tens * 10 + month)) && (1..=31).contains(&(day_tens * 10 + day))
}

fn social_security(digits: &[u32]) -> bool {
    if digits.len() != 9 {
        return false;
    }
    let (area, group, serial) = (number(&digits[..3]), number(&digits[3..5]), number(&digits[5..]));
    area != 0 && area != 666 && area < 900 && group != 0 && serial != 0
}

fn spain(signs: &[char]) -> bool {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let Some((letter, rest)) = signs.split_last() else { return false };
    let first = match rest.first() {
        Some('X' | 'x') => 0,
        Some('Y' | 'y') => 1,
        Some('Z' | 'z') => 2,
        Some(c) => c.to_digit(10).unwrap_or(0),
        None => return false,
    };
    let digits: Vec<u32> = rest[1..].iter().filter_map(|c| c.to_digit(10)).collect();
    let whole = number(&[&[first], digits.as_slice()].concat());
    digits.len() == 7 && char::from(LETTERS[(whole % 23) as usize]) == letter.to_ascii_uppercase()
}

fn brazil(digits: &[u32]) -> bool {
    let check = |count: usize| {
        let sum: u32 =
            digits[..count].iter().zip((2..=count as u32 + 1).rev()).map(|(d, w)| d * w).sum();
        sum * 10 % 11 % 10
    };
    digits.len() == 11 && check(9) == digits[9] && check(10) == digits[10]
}

fn china(signs: &[char], digits: &[u32]) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    const CHECKS: &[u8; 11] = b"10X98765432";
    if signs.len() != 18 || digits.len() < 17 {
        return false;
    }
    let sum: u32 = digits.iter().zip(WEIGHTS).map(|(digit, weight)| digit * weight).sum();
    let check = char::from(CHECKS[(sum % 11) as usize]);
    is_day(digits[10], digits[11], digits[12], digits[13])
        && signs[17].to_ascii_uppercase() == check
}

fn france(digits: &[u32]) -> bool {
    digits.len() == 15 && 97 - number(&digits[..13]) % 97 == number(&digits[13..])
}

fn germany(digits: &[u32]) -> bool {
    if digits.len() != 11 || digits[0] == 0 {
        return false;
    }
    let product = digits[..10].iter().fold(10, |product, digit| {
        let sum = (product + digit) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == digits[10]
}

fn italy(signs: &[char]) -> bool {
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    if signs.len() != 16 {
        return false;
    }
    let rank = |c: &char| match c.to_digit(10) {
        Some(digit) => digit,
        None => u32::from(c.to_ascii_uppercase()).saturating_sub(u32::from('A')).min(25),
    };
    let sum: u32 = signs[..15]
        .iter()
        .enumerate()
        .map(|(at, c)| if at % 2 == 0 { ODD[rank(c) as usize] } else { rank(c) })
        .sum();
    sum % 26 == rank(&signs[15])
}

fn india(digits: &[u32]) -> bool {
    const TURNS: [[u32; 10]; 8] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
        [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
        [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
        [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
        [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
        [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
        [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
    ];
    // The product in the group of the symmetries of a pentagon.
    let times = |a: u32, b: u32| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a - 5 + 5 - b) % 5 + 5,
        (false, false) => (a - 5 + 5 - (b - 5)) % 5,
    };
    let turned = digits.iter().rev().enumerate();
    digits.len() == 12
        && turned.fold(0, |sum, (at, digit)| times(sum, TURNS[at % 8][*digit as usize])) == 0
}

fn japan(digits: &[u32]) -> bool {
    if digits.len() != 12 {
        return false;
    }
    let weight = |n: usize| if n <= 6 { n + 1 } else { n - 5 } as u32;
    let sum: u32 = (1..=11).map(|n| digits[11 - n] * weight(n)).sum();
    let check = match sum % 11 {
        0 | 1 => 0,
        rest => 11 - rest,
    };
    check == digits[11]
}

#[cfg(test)]
mod tests {
    use super::NationalIdCheck::{self, *};

    /// Numbers that were made up and given the check digit that the rule asks for.
    #[test]
    fn check_digits_decide() {
        let check = |rule: NationalIdCheck, good: &str, bad: &str| {
            assert!(rule.accepts(good), "{rule:?} {good}");
            assert!(!rule.accepts(bad), "{rule:?} {bad}");
        };
        check(SocialSecurity, "219-09-9999", "666-12-3456");
        check(Spain, "12345678Z", "12345678A");
        check(Spain, "X1234567L", "X1234567A");
        check(Brazil, "529.982.247-25", "529.982.247-26");
        check(China, "11010519491231002X", "110105194912310021");
        check(France, "2 55 08 14 168 025 38", "2 55 08 14 168 025 39");
        check(Germany, "36 574 261 809", "36 574 261 808");
        check(Korea, "880101-1234567", "881399-1234567");
        check(Italy, "RSSMRA85T10A562S", "RSSMRA85T10A562T");
        check(India, "2341 2341 2346", "2341 2341 2347");
        check(Japan, "1234 5678 9018", "1234 5678 9019");
        check(Brazil, "529.982.247-25", "111.111.111-11");
    }
}
