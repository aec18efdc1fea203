module archway.dev/tests/node/app

go 1.26.0
