package main

import (
	"encoding/json"

	"github.com/openshift/managed-upgrade-operator/pkg/clusterversion"
	"github.com/openshift/managed-upgrade-operator/pkg/maintenance"
	"github.com/openshift/managed-upgrade-operator/pkg/scheduler"
	"github.com/openshift/managed-upgrade-operator/pkg/validation"
)

var answers = map[string]func(json.RawMessage) (any, error){
	"request":    answered(clusterversion.ArchwayRequest),
	"schedule":   answered(scheduler.ArchwaySchedule),
	"silences":   answered(maintenance.ArchwaySilences),
	"validation": answered(validation.ArchwayValidation),
}
