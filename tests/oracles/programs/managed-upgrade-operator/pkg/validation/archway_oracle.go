package validation

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/go-logr/logr"
	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	upgradev1alpha1 "github.com/openshift/managed-upgrade-operator/api/v1alpha1"
)

// ArchwayPlan is a plan, the cluster, what the update service answers, and the label of the release image; nil: there is no such image.
type ArchwayPlan struct {
	Plan           *upgradev1alpha1.UpgradeConfig `json:"plan"`
	ClusterVersion *configv1.ClusterVersion       `json:"clusterVersion"`
	Cincinnati     bool                           `json:"cincinnati"`
	Graph          json.RawMessage                `json:"graph"`
	Release        *string                        `json:"release"`
}

// RoundTrip answers for the registry of the release image.
func (given ArchwayPlan) RoundTrip(request *http.Request) (*http.Response, error) {
	answer := func(status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewBufferString(body)), Request: request}, nil
	}
	switch {
	case given.Release == nil:
		return answer(http.StatusNotFound, "")
	case strings.Contains(request.URL.Path, "/manifests/"):
		return answer(http.StatusOK, `{"config":{"digest":"sha256:c"}}`)
	default:
		label, err := json.Marshal(map[string]string{"io.openshift.release": *given.Release})
		if err != nil {
			return nil, err
		}
		return answer(http.StatusOK, `{"config":{"Labels":`+string(label)+`}}`)
	}
}

type plans struct{ client.Client }

func (plans) Update(context.Context, client.Object, ...client.UpdateOption) error { return nil }

// ArchwayValidation is the result, and the version that the plan then names.
func ArchwayValidation(given ArchwayPlan) (any, error) {
	before := http.DefaultTransport
	http.DefaultTransport = given
	defer func() { http.DefaultTransport = before }()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(given.Graph) }))
	defer upstream.Close()
	given.ClusterVersion.Spec.Upstream = configv1.URL(upstream.URL)
	judge := &validator{Cincinnati: given.Cincinnati}
	result, _ := judge.IsValidUpgradeConfig(plans{}, given.Plan, given.ClusterVersion, logr.Discard())
	return map[string]any{
		"isValid":  result.IsValid,
		"isUpdate": result.IsAvailableUpdate,
		"message":  strings.ReplaceAll(result.Message, upstream.URL, "UPSTREAM"),
		"version":  given.Plan.Spec.Desired.Version,
	}, nil
}
