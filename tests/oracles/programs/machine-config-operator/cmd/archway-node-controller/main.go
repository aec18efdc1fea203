// Command archway-node-controller runs the node controller, and nothing else of the operator, on a cluster that has pools and nodes.
// What it reads besides is made up here: one ControllerConfig, and none of the other kinds.
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "of the cluster")
	delay := flag.Duration("delay", time.Second, "between a change and what is done about it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		klog.Fatal(err)
	}
	kube, mcfg := kubernetes.NewForConfigOrDie(config), mcfgclientset.NewForConfigOrDie(config)
	name := metav1.ObjectMeta{Name: ctrlcommon.ControllerConfigName}
	absent := mcfginformers.NewSharedInformerFactory(mcfgfake.NewClientset(&mcfgv1.ControllerConfig{ObjectMeta: name}), 0)
	settings := configinformers.NewSharedInformerFactory(configfake.NewClientset(), 0)
	operators := operatorinformers.NewSharedInformerFactory(operatorfake.NewClientset(), 0)
	nodes := informers.NewSharedInformerFactory(kube, 0)
	pools := mcfginformers.NewSharedInformerFactory(mcfg, 0)
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
		ctrlcommon.NewFeatureGatesHardcodedHandler(nil, nil),
	)
	absent.Start(ctx.Done())
	settings.Start(ctx.Done())
	operators.Start(ctx.Done())
	nodes.Start(ctx.Done())
	pools.Start(ctx.Done())
	controller.Run(ctx, 2)
}
