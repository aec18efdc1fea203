package main

import (
	"encoding/json"

	"github.com/openshift/managed-upgrade-operator/pkg/maintenance"
)

var answers = map[string]func(json.RawMessage) (any, error){"silences": answered(maintenance.ArchwaySilences)}
