package node

import (
	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	ctrlcommon "github.com/openshift/machine-config-operator/pkg/controller/common"
	corev1 "k8s.io/api/core/v1"
)

// ArchwayPoolInputs is a pool with its nodes and, where it is built an image for, the objects of that.
type ArchwayPoolInputs struct {
	Pool   *mcfgv1.MachineConfigPool `json:"pool"`
	Nodes  []*corev1.Node            `json:"nodes"`
	Config *mcfgv1.MachineOSConfig   `json:"config"`
	Build  *mcfgv1.MachineOSBuild    `json:"build"`
}

// ArchwayPoolStatus is the status that the pool gets, with its conditions by type, and how each of its nodes is seen.
func ArchwayPoolStatus(given ArchwayPoolInputs) (any, error) {
	controller := &Controller{fgHandler: ctrlcommon.NewFeatureGatesHardcodedHandler(nil, nil)}
	status := controller.calculateStatus(nil, nil, given.Pool, given.Nodes, given.Config, given.Build)
	conditions := map[string]corev1.ConditionStatus{}
	for _, condition := range status.Conditions {
		conditions[string(condition.Type)] = condition.Status
	}
	nodes := []map[string]bool{}
	for _, node := range given.Nodes {
		state := ctrlcommon.NewLayeredNodeState(node)
		nodes = append(nodes, map[string]bool{
			"done":        state.IsNodeDone(),
			"degraded":    state.IsNodeDegraded(),
			"failing":     state.IsNodeMCDFailing(),
			"unavailable": state.IsUnavailableForUpdate(),
		})
	}
	return map[string]any{
		"machineCount":            status.MachineCount,
		"updatedMachineCount":     status.UpdatedMachineCount,
		"readyMachineCount":       status.ReadyMachineCount,
		"unavailableMachineCount": status.UnavailableMachineCount,
		"degradedMachineCount":    status.DegradedMachineCount,
		"configuration":           status.Configuration.Name,
		"conditions":              conditions,
		"nodes":                   nodes,
	}, nil
}
