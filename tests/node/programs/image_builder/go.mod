module archway.dev/tests/node/image_builder

go 1.26.0
