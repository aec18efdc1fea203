package podplacement

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/panjf2000/ants/v2"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/openshift/multiarch-tuning-operator/api/v1beta1"
	"github.com/openshift/multiarch-tuning-operator/pkg/informers/clusterpodplacementconfig"
)

// ArchwayPod is a pod that is created, the configs, and the architectures of its images: one that is absent cannot be inspected.
type ArchwayPod struct {
	Pod        json.RawMessage                    `json:"pod"`
	Cluster    *v1beta1.ClusterPodPlacementConfig `json:"cluster"`
	Namespaced v1beta1.PodPlacementConfigList     `json:"namespaced"`
	Images     map[string][]string                `json:"images"`
}

// world is the cluster and the registries, as far as the operator asks them.
type world struct {
	client.Client
	pod   *corev1.Pod
	given ArchwayPod
}

func (w *world) Get(_ context.Context, _ types.NamespacedName, object client.Object, _ ...client.GetOption) error {
	w.pod.DeepCopyInto(object.(*corev1.Pod))
	return nil
}

func (w *world) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	w.given.Namespaced.DeepCopyInto(list.(*v1beta1.PodPlacementConfigList))
	return nil
}

func (w *world) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	object.(*corev1.Pod).DeepCopyInto(w.pod)
	return nil
}

func (w *world) GetCompatibleArchitecturesSet(_ context.Context, image string, _ bool, _ [][]byte) (sets.Set[string], error) {
	architectures, known := w.given.Images[strings.TrimPrefix(image, "//")]
	if !known {
		return nil, fmt.Errorf("no such image: %s", image)
	}
	return sets.New(architectures...), nil
}

func newHook(scheme *runtime.Scheme, w *world, recorder record.EventRecorder) (*PodSchedulingGateMutatingWebHook, error) {
	// It takes no work: what would be done there is an event once the pod is stored.
	pool, err := ants.NewMultiPool(1, 1, ants.RoundRobin)
	if err != nil {
		return nil, err
	}
	if err := pool.ReleaseTimeout(time.Second); err != nil {
		return nil, err
	}
	return NewPodSchedulingGateMutatingWebHook(w, nil, scheme, recorder, pool), nil
}

func admit(hook *PodSchedulingGateMutatingWebHook, raw json.RawMessage) (*corev1.Pod, error) {
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Object: runtime.RawExtension{Raw: raw}}}
	response := hook.Handle(context.Background(), request)
	if !response.Allowed {
		return nil, fmt.Errorf("denied: %v", response.Result)
	}
	operations, err := json.Marshal(response.Patches)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		return nil, err
	}
	patched := []byte(raw)
	if len(response.Patches) > 0 {
		if patched, err = patch.Apply(raw); err != nil {
			return nil, err
		}
	}
	pod := &corev1.Pod{}
	return pod, json.Unmarshal(patched, pod)
}

func view(pod *corev1.Pod) map[string]any {
	gates := []string{}
	for _, gate := range pod.Spec.SchedulingGates {
		gates = append(gates, gate.Name)
	}
	seen := map[string]any{"labels": pod.Labels, "annotations": pod.Annotations, "gates": gates, "nodeAffinity": nil}
	if pod.Spec.Affinity != nil {
		seen["nodeAffinity"] = pod.Spec.Affinity.NodeAffinity
	}
	return seen
}

// ArchwayPlacement is the pod after its admission, and after as many reconciles as its gate needs.
func ArchwayPlacement(given ArchwayPod) (any, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	w := &world{given: given}
	imageInspectionCache = w
	clusterpodplacementconfig.ArchwayStore(given.Cluster)
	recorder := record.NewFakeRecorder(100)
	hook, err := newHook(scheme, w, recorder)
	if err != nil {
		return nil, err
	}
	if w.pod, err = admit(hook, given.Pod); err != nil {
		return nil, err
	}
	admitted := view(w.pod)
	reconciler := &PodReconciler{Client: w, APIReader: w, Scheme: scheme, Recorder: recorder}
	rounds := 0
	for newPod(w.pod, context.Background(), recorder).HasSchedulingGate() && rounds < 10 {
		if _, err := reconciler.Reconcile(context.Background(), ctrl.Request{}); err != nil {
			return nil, err
		}
		rounds++
	}
	return map[string]any{"admitted": admitted, "released": view(w.pod), "rounds": rounds}, nil
}
