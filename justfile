# Thin names for the usual commands; `./test` is what CI runs.

# List the recipes
default:
    @just --list

# Run all the tests, as CI does
test:
    ./test

# Add the full counts, soaks and benches
long:
    ./test --long

# What CI refuses: format, lints and broken links in the documentation of the code
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
    scripts/check-windows

# Licences, bans and the oldest compiler, where what checks them is installed
deps:
    scripts/check-dependencies

# Format everything
fmt:
    cargo fmt --all

# Bring examples, reference and recording in docs/ up to date; look at the diff
docs:
    SINEW_UPDATE=1 TRYCMD=overwrite cargo nextest run -p sinew-cli docs:: reference:: recording::

# Make the packages of a release in dist/
dist *args:
    scripts/dist {{args}}

# Run the benches, or the one that is named
bench *args:
    cargo bench --workspace {{args}}

# Fuzz one target for a minute, from a copy of its own seeds
fuzz target="frontmatter" seconds="60":
    mkdir -p fuzz/corpus/{{target}}
    cp -n fuzz/seeds/{{target}}/* fuzz/corpus/{{target}}/ || true
    cargo +nightly fuzz run {{target}} fuzz/corpus/{{target}} -- -max_total_time={{seconds}}
