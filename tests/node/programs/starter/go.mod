module archway.dev/tests/starter

go 1.26
