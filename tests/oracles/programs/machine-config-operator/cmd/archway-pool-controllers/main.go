// Command archway-pool-controllers runs the node controller, on a cluster that has pools and nodes, and nothing else of the operator
// but the render controller, where a release is given. What they read besides is made up here: one ControllerConfig, and none of the
// other kinds.
package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"time"

	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	mcfgclientset "github.com/openshift/client-go/machineconfiguration/clientset/versioned"
	mcfgfake "github.com/openshift/client-go/machineconfiguration/clientset/versioned/fake"
	mcfginformers "github.com/openshift/client-go/machineconfiguration/informers/externalversions"
	operatorfake "github.com/openshift/client-go/operator/clientset/versioned/fake"
	operatorinformers "github.com/openshift/client-go/operator/informers/externalversions"
	ctrlcommon "github.com/openshift/machine-config-operator/pkg/controller/common"
	"github.com/openshift/machine-config-operator/pkg/controller/node"
	"github.com/openshift/machine-config-operator/pkg/controller/render"
	daemonconsts "github.com/openshift/machine-config-operator/pkg/daemon/constants"
	"github.com/openshift/machine-config-operator/pkg/version"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "of the cluster")
	delay := flag.Duration("delay", time.Second, "between a change and what is done about it")
	release := flag.String("release", "", "that the operator is of: templates that another one made are not rendered")
	image := flag.String("image", "", "of the operating system, of that release")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		klog.Fatal(err)
	}
	kube, mcfg := kubernetes.NewForConfigOrDie(config), mcfgclientset.NewForConfigOrDie(config)
	version.Raw, version.Hash = *release, *release
	completed := mcfgv1.ControllerConfigStatusCondition{Type: mcfgv1.TemplateControllerCompleted, Status: corev1.ConditionTrue}
	absent := mcfginformers.NewSharedInformerFactory(mcfgfake.NewClientset(&mcfgv1.ControllerConfig{
		ObjectMeta: metav1.ObjectMeta{Name: ctrlcommon.ControllerConfigName, Annotations: map[string]string{
			daemonconsts.GeneratedByVersionAnnotationKey: *release,
			ctrlcommon.ReleaseImageVersionAnnotationKey:  *release,
		}},
		Spec:   mcfgv1.ControllerConfigSpec{BaseOSContainerImage: *image, BaseOSExtensionsContainerImage: *image + "e"},
		Status: mcfgv1.ControllerConfigStatus{Conditions: []mcfgv1.ControllerConfigStatusCondition{completed}},
	}), 0)
	settings := configinformers.NewSharedInformerFactory(configfake.NewClientset(), 0)
	operators := operatorinformers.NewSharedInformerFactory(operatorfake.NewClientset(), 0)
	nodes := informers.NewSharedInformerFactory(kube, 0)
	pools := mcfginformers.NewSharedInformerFactory(mcfg, 0)
	gates := ctrlcommon.NewFeatureGatesHardcodedHandler(nil, nil)
	controller := node.NewWithCustomUpdateDelay(
		absent.Machineconfiguration().V1().ControllerConfigs(),
		pools.Machineconfiguration().V1().MachineConfigs(),
		pools.Machineconfiguration().V1().MachineConfigPools(),
		nodes.Core().V1().Nodes(),
		nodes.Core().V1().Pods(),
		absent.Machineconfiguration().V1().MachineOSConfigs(),
		absent.Machineconfiguration().V1().MachineOSBuilds(),
		absent.Machineconfiguration().V1().MachineConfigNodes(),
		settings.Config().V1().Schedulers(),
		operators.Operator().V1().MachineConfigurations(),
		absent.Machineconfiguration().V1().OSImageStreams(),
		settings.Config().V1().Infrastructures(),
		kube,
		mcfg,
		*delay,
		gates,
	)
	renderer := render.New(
		pools.Machineconfiguration().V1().MachineConfigPools(),
		pools.Machineconfiguration().V1().MachineConfigs(),
		absent.Machineconfiguration().V1().ControllerConfigs(),
		absent.Machineconfiguration().V1().ContainerRuntimeConfigs(),
		absent.Machineconfiguration().V1().KubeletConfigs(),
		operators.Operator().V1().MachineConfigurations(),
		nil, nil, nil, nil, nil, nil, // Image streams, and what an image is read from a registry with.
		kube,
		mcfg,
		gates,
		nil,
	)
	absent.Start(ctx.Done())
	settings.Start(ctx.Done())
	operators.Start(ctx.Done())
	nodes.Start(ctx.Done())
	pools.Start(ctx.Done())
	if *release != "" {
		go renderer.Run(ctx, 1)
	}
	controller.Run(ctx, 2)
}
