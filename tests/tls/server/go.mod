module archway.test/tlsserver

go 1.26
