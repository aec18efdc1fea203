package operator

import (
	"context"
	"fmt"
	"slices"

	mcfgfake "github.com/openshift/client-go/machineconfiguration/clientset/versioned/fake"
	ctrlcommon "github.com/openshift/machine-config-operator/pkg/controller/common"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	appslisters "k8s.io/client-go/listers/apps/v1"
	clienttesting "k8s.io/client-go/testing"
)

var deployments = appsv1.SchemeGroupVersion.WithResource("deployments")

// ArchwayBuilderInputs is the Deployment of the builder as there is one, and as the operator wants it.
type ArchwayBuilderInputs struct {
	Existing *appsv1.Deployment `json:"existing"`
	Required *appsv1.Deployment `json:"required"`
	// Held: into which of "deployments" and "deployments/scale" admission writes 0 replicas.
	Held  []string `json:"held"`
	Syncs int      `json:"syncs"`
}

// ArchwaySyncBuilder lets the operator reconcile the builder again and again, and returns what each turn wrote, how many
// of these writes changed anything, and the replicas after it.
func ArchwaySyncBuilder(given ArchwayBuilderInputs) (any, error) {
	objects := []runtime.Object{}
	if given.Existing != nil {
		objects = append(objects, given.Existing)
	}
	client := fake.NewClientset(objects...)
	name, namespace := given.Required.Name, given.Required.Namespace
	changes := 0
	react(client, given, &changes)
	operator := &Operator{
		kubeClient: client, client: mcfgfake.NewClientset(), deployLister: lister{client: client},
	}
	turns := []any{}
	for range given.Syncs {
		before := len(client.Actions())
		changes = 0
		err := operator.startOrUpdateMachineOSBuilderDeployment(given.Required.DeepCopy(), 1, nil)
		if err != nil {
			return nil, err
		}
		writes := []string{}
		for _, action := range client.Actions()[before:] {
			if action.GetVerb() != "get" && action.GetVerb() != "list" {
				writes = append(writes, fmt.Sprintf("%s %s/%s", action.GetVerb(), action.GetResource().Resource, action.GetSubresource()))
			}
		}
		now, err := client.Tracker().Get(deployments, namespace, name)
		if err != nil {
			return nil, err
		}
		turns = append(turns, map[string]any{
			"writes":   writes,
			"replicas": now.(*appsv1.Deployment).Spec.Replicas,
			"changes":  changes,
		})
	}
	return turns, nil
}

// lister reads what the client wrote, without a cache.
type lister struct {
	appslisters.DeploymentLister
	appslisters.DeploymentNamespaceLister
	client *fake.Clientset
}

func (l lister) List(labels.Selector) ([]*appsv1.Deployment, error) { return nil, nil }

func (l lister) Deployments(string) appslisters.DeploymentNamespaceLister { return l }

func (l lister) Get(name string) (*appsv1.Deployment, error) {
	return l.client.AppsV1().Deployments(ctrlcommon.MCONamespace).Get(context.Background(), name, metav1.GetOptions{})
}

// react plays the API server: the scale of a Deployment, and admission.
func react(client *fake.Clientset, given ArchwayBuilderInputs, changes *int) {
	none := int32(0)
	count := func(written *appsv1.Deployment) {
		earlier, err := client.Tracker().Get(deployments, written.Namespace, written.Name)
		if err != nil || !equality.Semantic.DeepEqual(earlier, written) {
			*changes++
		}
	}
	client.PrependReactor("*", "deployments", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() == "scale" {
			found, err := client.Tracker().Get(deployments, given.Required.Namespace, given.Required.Name)
			if err != nil {
				return true, nil, err
			}
			deployment := found.(*appsv1.Deployment).DeepCopy()
			if update, ok := action.(clienttesting.UpdateAction); ok {
				deployment.Spec.Replicas = &update.GetObject().(*autoscalingv1.Scale).Spec.Replicas
				if slices.Contains(given.Held, "deployments/scale") {
					deployment.Spec.Replicas = &none
				}
				count(deployment)
				if err := client.Tracker().Update(deployments, deployment, deployment.Namespace); err != nil {
					return true, nil, err
				}
			}
			return true, &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: *deployment.Spec.Replicas}}, nil
		}
		if write, ok := action.(clienttesting.CreateAction); ok {
			deployment := write.GetObject().(*appsv1.Deployment)
			if slices.Contains(given.Held, "deployments") {
				deployment.Spec.Replicas = &none
			}
			count(deployment)
		}
		return false, nil, nil
	})
}
