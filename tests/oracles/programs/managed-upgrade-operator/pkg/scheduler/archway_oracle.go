package scheduler

import (
	"time"

	upgradev1alpha1 "github.com/openshift/managed-upgrade-operator/api/v1alpha1"
)

// ArchwayTime is a start so many minutes from now, and how long it may be late.
type ArchwayTime struct {
	Minutes int `json:"minutes"`
	TimeOut int `json:"timeOut"`
}

// ArchwaySchedule is whether it may begin, or is over, and after how many minutes it may.
func ArchwaySchedule(given ArchwayTime) (any, error) {
	// The time is read again in the call: half a minute keeps it from the edge.
	start := time.Now().Add(time.Duration(given.Minutes)*time.Minute + 30*time.Second)
	plan := &upgradev1alpha1.UpgradeConfig{Spec: upgradev1alpha1.UpgradeConfigSpec{UpgradeAt: start.Format(time.RFC3339)}}
	result := NewScheduler().IsReadyToUpgrade(plan, time.Duration(given.TimeOut)*time.Minute)
	return map[string]any{
		"isReady": result.IsReady, "isBreached": result.IsBreached, "minutes": int(result.TimeUntilUpgrade / time.Minute),
	}, nil
}
