module archway.dev/tests/node/emulator

go 1.26.0
