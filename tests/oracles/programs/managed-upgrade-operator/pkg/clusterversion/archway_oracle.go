package clusterversion

import (
	"context"
	"encoding/json"

	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	upgradev1alpha1 "github.com/openshift/managed-upgrade-operator/api/v1alpha1"
)

// ArchwayTarget is a plan and the cluster that it is for.
type ArchwayTarget struct {
	Plan           *upgradev1alpha1.UpgradeConfig `json:"plan"`
	ClusterVersion *configv1.ClusterVersion       `json:"clusterVersion"`
	Operators      configv1.ClusterOperatorList   `json:"operators"`
}

// cluster is what the operator reads, and the patches that it makes.
type cluster struct {
	client.Client
	given   ArchwayTarget
	patches []json.RawMessage
}

func (c *cluster) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	c.given.ClusterVersion.DeepCopyInto(object.(*configv1.ClusterVersion))
	return nil
}

func (c *cluster) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	c.given.Operators.DeepCopyInto(list.(*configv1.ClusterOperatorList))
	return nil
}

func (c *cluster) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	data, err := patch.Data(object)
	if err != nil {
		return err
	}
	c.patches = append(c.patches, data)
	return json.Unmarshal(data, c.given.ClusterVersion)
}

// ArchwayRequest is what the operator takes for so, and how it asks for the target where it has not.
func ArchwayRequest(given ArchwayTarget) (any, error) {
	world := &cluster{given: given, patches: []json.RawMessage{}}
	operator := NewCVClient(world)
	commenced, err := operator.HasUpgradeCommenced(given.Plan)
	if err != nil {
		return nil, err
	}
	degraded, err := operator.HasDegradedOperators()
	if err != nil {
		return nil, err
	}
	current, err := GetCurrentVersion(given.ClusterVersion)
	if err != nil {
		current = ""
	}
	answer := map[string]any{
		"isCommenced": commenced,
		"isCompleted": operator.HasUpgradeCompleted(given.ClusterVersion, given.Plan),
		"preceding":   GetPrecedingVersion(given.ClusterVersion, given.Plan),
		"current":     current,
		"degraded":    degraded.Degraded,
	}
	if !commenced {
		if answer["isAsked"], err = operator.EnsureDesiredConfig(given.Plan); err != nil {
			return nil, err
		}
	}
	answer["patches"] = world.patches
	return answer, nil
}
