package main

import (
	"encoding/json"

	"github.com/openshift/multiarch-tuning-operator/internal/controller/podplacement"
	"github.com/openshift/multiarch-tuning-operator/pkg/image"
)

var answers = map[string]func(json.RawMessage) (any, error){
	"placement":     answered(podplacement.ArchwayPlacement),
	"architectures": answered(image.ArchwayArchitectures),
}
