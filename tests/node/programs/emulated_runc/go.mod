module archway.dev/tests/node/emulated_runc

go 1.26.0
