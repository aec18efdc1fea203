package operator

import (
	"context"
	"fmt"

	mcfgfake "github.com/openshift/client-go/machineconfiguration/clientset/versioned/fake"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	appslisters "k8s.io/client-go/listers/apps/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

// ArchwayBuilderInputs is the Deployment of the builder as there is one, and as the operator wants it.
type ArchwayBuilderInputs struct {
	Existing *appsv1.Deployment `json:"existing"`
	Required *appsv1.Deployment `json:"required"`
	// Held: admission writes 0 replicas into the Deployment and its scale.
	Held  bool `json:"held"`
	Syncs int  `json:"syncs"`
}

// ArchwaySyncBuilder lets the operator reconcile the builder again and again, and returns what each turn wrote, and the
// replicas after it.
func ArchwaySyncBuilder(given ArchwayBuilderInputs) (any, error) {
	objects := []runtime.Object{}
	if given.Existing != nil {
		objects = append(objects, given.Existing)
	}
	client := fake.NewClientset(objects...)
	name, namespace := given.Required.Name, given.Required.Namespace
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	listed := func() error {
		found, err := client.Tracker().Get(appsv1.SchemeGroupVersion.WithResource("deployments"), namespace, name)
		if err != nil {
			return err
		}
		return indexer.Replace([]any{found}, "")
	}
	react(client, given)
	operator := &Operator{
		kubeClient: client, client: mcfgfake.NewClientset(), deployLister: appslisters.NewDeploymentLister(indexer),
	}
	turns := []any{}
	for range given.Syncs {
		before := len(client.Actions())
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
		if err := listed(); err != nil {
			return nil, err
		}
		now, err := client.AppsV1().Deployments(namespace).Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		turns = append(turns, map[string]any{"writes": writes, "replicas": now.Spec.Replicas})
	}
	return turns, nil
}

// react plays the API server: the scale of a Deployment, and admission.
func react(client *fake.Clientset, given ArchwayBuilderInputs) {
	kind := appsv1.SchemeGroupVersion.WithResource("deployments")
	none := int32(0)
	client.PrependReactor("*", "deployments", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.GetSubresource() == "scale" {
			found, err := client.Tracker().Get(kind, given.Required.Namespace, given.Required.Name)
			if err != nil {
				return true, nil, err
			}
			deployment := found.(*appsv1.Deployment).DeepCopy()
			if update, ok := action.(clienttesting.UpdateAction); ok {
				wanted := update.GetObject().(*autoscalingv1.Scale).Spec.Replicas
				if given.Held {
					wanted = 0
				}
				deployment.Spec.Replicas = &wanted
				if err := client.Tracker().Update(kind, deployment, deployment.Namespace); err != nil {
					return true, nil, err
				}
			}
			return true, &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: *deployment.Spec.Replicas}}, nil
		}
		if write, ok := action.(clienttesting.CreateAction); ok && given.Held {
			write.GetObject().(*appsv1.Deployment).Spec.Replicas = &none
		}
		return false, nil, nil
	})
}
