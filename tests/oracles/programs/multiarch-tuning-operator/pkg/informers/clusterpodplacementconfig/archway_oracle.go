package clusterpodplacementconfig

import (
	"github.com/openshift/multiarch-tuning-operator/api/v1beta1"
	"github.com/openshift/multiarch-tuning-operator/pkg/informers/clusterpodplacementconfig/internal"
)

// ArchwayStore makes a config the one that is read; nil: there is none.
func ArchwayStore(config *v1beta1.ClusterPodPlacementConfig) {
	if config == nil {
		internal.DeleteClusterPodPlacementConfig()
		return
	}
	internal.StoreClusterPodPlacementConfig(config)
}
