package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	"github.com/openshift/machine-config-operator/pkg/controller/build"
	"github.com/openshift/machine-config-operator/pkg/controller/build/buildrequest"
	"github.com/openshift/machine-config-operator/pkg/controller/build/utils"
	"github.com/openshift/machine-config-operator/pkg/controller/node"
	"github.com/openshift/machine-config-operator/pkg/operator"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

var answers = map[string]func(json.RawMessage) (any, error){
	"build":       answered(newBuild),
	"digest map":  answered(digestMap),
	"pool status": answered(node.ArchwayPoolStatus),
	"builder":     answered(operator.ArchwaySyncBuilder),
}

type buildInputs struct {
	Config   *mcfgv1.MachineOSConfig   `json:"config"`
	Pool     *mcfgv1.MachineConfigPool `json:"pool"`
	Rendered *mcfgv1.MachineConfig     `json:"rendered"`
}

// newBuild makes a MachineOSBuild, and the names of what belongs to it.
func newBuild(given buildInputs) (any, error) {
	made, err := buildrequest.NewMachineOSBuild(buildrequest.MachineOSBuildOpts{
		MachineConfig: given.Rendered, MachineOSConfig: given.Config, MachineConfigPool: given.Pool,
	})
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"name":        made.Name,
		"labels":      made.Labels,
		"annotations": made.Annotations,
		"finalizers":  made.Finalizers,
		"spec":        made.Spec,
		"job":         utils.GetBuildJobName(made),
		"configMaps": []string{
			utils.GetContainerfileConfigMapName(made), utils.GetMCConfigMapName(made),
			utils.GetAdditionalTrustBundleConfigMapName(made), utils.GetEtcPolicyConfigMapName(made),
			utils.GetEtcRegistriesConfigMapName(made),
		},
		"digestMap": utils.GetDigestConfigMapName(made),
		"secrets":   []string{utils.GetBasePullSecretName(made), utils.GetFinalPushSecretName(made)},
	}, nil
}

type digestInputs struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Labels    string `json:"labels"`
	File      string `json:"file"`
}

// digestMap runs what `machine-os-builder create-digest-configmap` runs, and returns the ConfigMap that it made.
func digestMap(given digestInputs) (any, error) {
	folder, err := os.MkdirTemp("", "oracle")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "digestfile")
	if err := os.WriteFile(file, []byte(given.File), 0o600); err != nil {
		return nil, err
	}
	client := fake.NewClientset()
	options := build.DigestConfigMapOpts{
		ConfigMapName: given.Name, Namespace: given.Namespace, Labels: given.Labels, DigestFile: file,
	}
	if err := build.ApplyDigestConfigMapFromFile(context.Background(), client, options); err != nil {
		return nil, err
	}
	made, err := client.CoreV1().ConfigMaps(given.Namespace).Get(context.Background(), given.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return map[string]any{"labels": made.Labels, "data": made.Data}, nil
}
