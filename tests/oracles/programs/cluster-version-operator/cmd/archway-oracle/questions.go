package main

import (
	"encoding/json"

	"github.com/openshift/cluster-version-operator/pkg/cvo"
)

var answers = map[string]func(json.RawMessage) (any, error){
	"acceptance":  answered(cvo.ArchwayAcceptance),
	"statuses":    answered(cvo.ArchwayStatuses),
	"upgradeable": answered(cvo.ArchwayUpgradeable),
}
