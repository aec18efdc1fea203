package cvo

import (
	"context"
	"errors"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	configv1listers "github.com/openshift/client-go/config/listers/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/cluster-version-operator/lib/validation"
	"github.com/openshift/cluster-version-operator/pkg/clusterconditions"
	"github.com/openshift/cluster-version-operator/pkg/featuregates"
	"github.com/openshift/cluster-version-operator/pkg/payload"
	"github.com/openshift/cluster-version-operator/pkg/payload/precondition"
	"github.com/openshift/cluster-version-operator/pkg/payload/precondition/clusterversion"
)

// ArchwayAcceptance is what becomes of the request of a ClusterVersion.
func ArchwayAcceptance(given *configv1.ClusterVersion) (any, error) {
	problems := validation.ValidateClusterVersion(given, false)
	// As the operator reads it: without what is invalid.
	cleared := validation.ClearInvalidFields(given, problems)
	update, found := findUpdateFromConfig(cleared, given.Status.Desired.Architecture)
	return map[string]any{"problems": len(problems), "isFound": found, "image": update.Image}, nil
}

// ArchwayMove is a ClusterVersion, and the version that it is asked for.
type ArchwayMove struct {
	ClusterVersion *configv1.ClusterVersion `json:"clusterVersion"`
	Version        string                   `json:"version"`
}

// ArchwayUpgradeable is whether the condition Upgradeable holds a version up.
func ArchwayUpgradeable(given ArchwayMove) (any, error) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	if err := indexer.Add(given.ClusterVersion); err != nil {
		return nil, err
	}
	check := clusterversion.NewUpgradeable(configv1listers.NewClusterVersionLister(indexer))
	err := check.Run(context.Background(), precondition.ReleaseContext{DesiredVersion: given.Version})
	var problem *precondition.Error
	isBlocked := err != nil && (!errors.As(err, &problem) || !problem.NonBlockingWarning)
	return map[string]any{"isBlocked": isBlocked}, nil
}

// ArchwayTurn is one state of the work on a release. Failure is the reason of what fails, and Refused that of a payload that is not taken.
type ArchwayTurn struct {
	Release   configv1.Release `json:"release"`
	Completed bool             `json:"completed"`
	Done      int              `json:"done"`
	Failure   string           `json:"failure"`
	Effect    string           `json:"effect"`
	Refused   string           `json:"refused"`
}

// stamp gives times of this turn one that is the same whenever it is asked.
func stamp(status *configv1.ClusterVersionStatus, turn int) {
	first := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(t *metav1.Time) *metav1.Time {
		if t == nil || t.Time.Before(first.Add(24*time.Hour)) {
			return t
		}
		return &metav1.Time{Time: first.Add(time.Duration(turn) * time.Minute)}
	}
	for i := range status.History {
		status.History[i].StartedTime = *at(&status.History[i].StartedTime)
		status.History[i].CompletionTime = at(status.History[i].CompletionTime)
	}
	for i := range status.Conditions {
		status.Conditions[i].LastTransitionTime = *at(&status.Conditions[i].LastTransitionTime)
	}
}

func workerOf(turn ArchwayTurn) *SyncWorkerStatus {
	worker := &SyncWorkerStatus{Actual: turn.Release, Done: turn.Done, Total: 900, Reconciling: turn.Completed}
	if turn.Completed {
		worker.Completed = 1
	}
	if turn.Failure != "" {
		worker.Failure = &payload.UpdateError{
			Nested: errors.New("it fails"), Reason: turn.Failure, Message: "an operator is late", Name: "etcd",
			UpdateEffect: payload.UpdateEffectType(turn.Effect),
		}
	}
	worker.loadPayloadStatus = LoadPayloadStatus{Step: "PayloadLoaded", Message: "loaded", Update: configv1.Update{Image: turn.Release.Image}}
	if turn.Refused != "" {
		worker.loadPayloadStatus = LoadPayloadStatus{Step: turn.Refused, Message: "it is refused", Failure: errors.New("it is refused")}
	}
	return worker
}

// ArchwayStatuses are those of the ClusterVersion after each turn.
func ArchwayStatuses(turns []ArchwayTurn) (any, error) {
	status := &configv1.ClusterVersionStatus{}
	seen := []configv1.ClusterVersionStatus{}
	for at, turn := range turns {
		updateClusterVersionStatus(
			context.Background(), status, workerOf(turn), turns[0].Release, clusterconditions.NewConditionRegistry(),
			func() *availableUpdates { return nil }, nil, featuregates.DefaultCvoGates("4.21.0"), nil, func() bool { return false },
		)
		stamp(status, at)
		seen = append(seen, *status.DeepCopy())
	}
	return seen, nil
}
