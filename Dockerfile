# A fresh Debian 12 with what `make demo` and `make test` need, and CLIFT built in it:
#   docker build -t clift . && docker run --rm clift make demo
# Live links and the tests of them need `docker run --privileged`.
FROM debian:12
# The lists of packages stay: `make ns2` asks apt where the source of ns-2 is.
RUN apt-get update && apt-get install -y --no-install-recommends \
        ca-certificates curl g++ git make pkg-config python3 python3-venv \
        ns2 libns3-dev tcl-dev libtclcl1-dev libotcl1-dev cmake iproute2 iputils-ping tshark
ENV CARGO_HOME=/opt/cargo RUSTUP_HOME=/opt/rustup PATH=/opt/cargo/bin:$PATH
# Debian's Rust is older than the 1.88 that CLIFT needs.
RUN curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal \
        --component rustfmt --component clippy
WORKDIR /clift
COPY . .
RUN make .venv/tools
CMD ["make", "test"]
