// Rows of the pod model (MD, PM), one line each: id, and in one sentence what it demands.

/** The pod model that every part of the MTO shares. */
export const MD = `
MD-01 Adding a gate to a pod whose list of gates is null gives a list with that gate.
MD-02 Adding a gate to an empty list of gates gives a list with that gate.
MD-03 Adding a gate beside another one keeps the other.
MD-04 Adding a gate that the pod already has does not repeat it.
MD-05 A pod whose list of gates is null does not have the gate.
MD-06 A pod with an empty list of gates does not have the gate.
MD-07 A pod that has only another gate does not have the gate.
MD-08 A pod whose only gate is the one looked for has it.
MD-09 A gate is found between two others.
MD-10 Removing a gate from a null list leaves no gate and is no error.
MD-11 Removing a gate that the pod does not have leaves the other gate.
MD-12 Removing the only gate leaves an empty list.
MD-13 Setting a label on a pod without labels gives exactly that label.
MD-14 Setting a label beside another one gives both.
MD-15 Setting a label that exists replaces its value.
MD-16 Setting an annotation on a pod without annotations adds it.
MD-17 Setting an annotation beside another one keeps the other.
MD-18 Setting an annotation that exists replaces its value and keeps the other annotations.
MD-19 Removing a label from a pod without labels changes nothing and is no error.
MD-20 Removing the only label leaves no label.
MD-21 Removing one label of two leaves the other.
MD-22 Removing a label that the pod does not have keeps its two others.
MD-23 A pod whose nodeSelector is null does not select the control plane.
MD-24 A pod with an empty nodeSelector does not select the control plane.
MD-25 A nodeSelector of another key does not select the control plane.
MD-26 A nodeSelector with the key node-role.kubernetes.io/control-plane selects the control plane.
MD-27 A nodeSelector with the key node-role.kubernetes.io/master selects the control plane.
MD-28 The counter label of a pod without labels becomes 1 when it is raised.
MD-29 A counter label of 2 becomes 3 when it is raised.
MD-30 A counter label that is no number becomes 1 when it is raised.
MD-31 A pod without owners does not come from a DaemonSet.
MD-32 A pod controlled by an owner of kind Deployment does not come from a DaemonSet.
MD-33 A pod controlled by an owner of kind DaemonSet comes from a DaemonSet.
MD-34 The name of a container is found by its ID in the form of CRI-O, as in the status of its pod.
MD-35 The name of a container is found by its ID in the form of containerd, as in the status of its pod.
MD-36 A well-formed container ID that the status of the pod does not have gives no name.
MD-37 A malformed container ID gives no name.
MD-38 An empty container ID gives no name.
`;

/** The pod as placement sees it. */
export const PM = `
PM-01 A pod without pull secrets gives an empty list of their names.
PM-02 A pod with one pull secret gives a list with its name.
PM-03 A pod with an empty list of pull secrets gives an empty list of names.
PM-04 A pod whose list of gates is null does not count as gated.
PM-05 A pod with an empty list of gates does not count as gated.
PM-06 A pod whose only gate is the MTO's counts as gated.
PM-07 A pod that has only a foreign gate does not count as gated.
PM-08 A pod with the MTO's gate between two foreign ones counts as gated.
PM-09 Removing the gate from a null list leaves it null.
PM-10 Removing the gate from an empty list leaves it empty.
PM-11 Removing the gate where it is the only one leaves an empty list.
PM-12 Removing the gate where there is only a foreign one keeps the foreign one.
PM-13 Removing the gate from between two foreign ones keeps both in their order.
PM-14 A pod of one container without pull policy has one image to inspect, which the cache may answer.
PM-15 An image that two containers share is inspected once.
PM-16 Images of init containers are inspected as well.
PM-17 Of a pod's images only the one with the pull policy Always bypasses the cache.
PM-18 A pod with one image for amd64 and arm64 can run on both.
PM-19 A pod with one image for arm64 alone can run on arm64 alone.
PM-20 Two containers with the same image for amd64 and arm64 can run on both.
PM-21 An image for amd64 and arm64 beside one for arm64 alone can run on arm64 alone.
PM-22 An image for two architectures beside one for four can run on the two that they share.
PM-23 When one image cannot be inspected, the pod as a whole has no set of architectures but an error.
PM-24 The requirement of a pod is kubernetes.io/arch In the shared architectures in alphabetical order.
PM-25 When one image cannot be inspected, there is an error and no requirement.
PM-26 Images that share no architecture give the requirement that multiarch.openshift.io/no-supported-arch exists.
PM-27 A required node affinity without terms gets one term with the architectures.
PM-28 A required term whose matchExpressions are null gets the architectures.
PM-29 A required term whose matchExpressions are an empty list gets the architectures.
PM-30 Each of two required terms, which are ORed, gets the architectures as its last expression.
PM-31 A required term that names an architecture stays as it is, and the other term gets the architectures.
PM-32 A pod without preferred terms gets that of the cluster config.
PM-33 The preference of the cluster config comes after a preference of the user for another key.
PM-34 A user's preference for an architecture stays alone, and that of the cluster config is not added.
PM-35 Of two configs that prefer the same architecture only the preference of the first is added.
PM-36 A user's preference for another key comes first, then that of the first of two configs.
PM-37 A user's preference for an architecture keeps two namespace configs from adding theirs.
PM-38 Scoring without platforms leaves an empty list of preferred terms empty.
PM-39 The fallback architecture becomes the required one of a pod without affinity.
PM-40 A pod whose affinity is null gets one required term with its architectures.
PM-41 A pod with a nodeSelector for another key keeps it and gets the required term.
PM-42 A pod whose nodeSelector names an architecture gets no required term.
PM-43 A pod without affinity gets one required term with its architectures.
PM-44 A pod whose affinity has no nodeAffinity gets one required term with its architectures.
PM-45 A pod whose nodeAffinity has no required part gets one required term with its architectures.
PM-46 A required term with one expression gets the architectures behind it.
PM-47 Pod affinity and preferred node terms stay when the required term is added.
PM-48 A pod with an image that cannot be inspected keeps its affinity unchanged.
PM-49 A pod whose images share no architecture gets one required term on multiarch.openshift.io/no-supported-arch.
PM-50 A requirement whose values are null gives the pod no architecture label.
PM-51 A requirement with an empty list of values gives the pod the label no-supported-arch alone.
PM-52 A pod that can run on amd64 alone is labelled single-arch and amd64.
PM-53 A pod that can run on amd64 and arm64 is labelled multi-arch, amd64 and arm64.
PM-54 A pod for amd64 and riscv64 is labelled multi-arch and amd64, for an unknown architecture has no label.
PM-55 A pod for two unknown architectures is labelled multi-arch alone.
PM-56 Gating a pod whose list of gates is null gives a list with the gate.
PM-57 Gating a pod with an empty list of gates gives a list with the gate.
PM-58 Gating a pod that has the gate does not repeat it.
PM-59 Gating a pod with a foreign gate puts the MTO's behind it.
PM-60 A plain pod is not ignored.
PM-61 A pod in the operator's own namespace is ignored.
PM-62 A pod in kube-system is ignored.
PM-63 A pod whose nodeName is set is ignored.
PM-64 A pod whose nodeSelector selects the control plane is ignored.
PM-65 A pod that a DaemonSet controls is ignored.
PM-66 A pod with a DaemonSet as owner that does not control it is not ignored.
PM-67 A pod with a DaemonSet as owner whose field controller is null is not ignored.
PM-68 A pod with a required architecture is ignored while scoring is off.
PM-69 A pod with a required and a preferred architecture is ignored although scoring is on.
PM-70 A pod with a required architecture alone is not ignored while scoring is on.
PM-71 A pod with a required architecture is ignored when the scoring plugin is there but not enabled.
PM-72 A pod without affinity has no preferred architecture.
PM-73 A pod whose affinity has no nodeAffinity has no preferred architecture.
PM-74 A pod whose preferred terms are null has no preferred architecture.
PM-75 A preferred term with the key kubernetes.io/arch counts as a preferred architecture.
PM-76 A preferred term with another key does not count as a preferred architecture.
PM-77 A nodeSelector with kubernetes.io/arch counts as a required architecture.
PM-78 A pod with neither nodeSelector nor affinity requires no architecture.
PM-79 An affinity without nodeAffinity requires no architecture.
PM-80 An empty nodeAffinity requires no architecture.
PM-81 An architecture in the only required term counts as a required architecture.
PM-82 Another key in the only required term does not count as a required architecture.
PM-83 An architecture in only one of two required terms does not count as a required architecture.
PM-84 Where there are no namespace configs, none applies to a pod.
PM-85 A namespace config whose matchLabels the pod has applies to it.
PM-86 A namespace config whose matchLabels the pod lacks does not apply to it.
PM-87 Of three namespace configs exactly the two whose labels the pod has apply to it.
PM-88 A namespace config whose selector is invalid is passed over, and the valid one applies.
PM-89 A namespace config whose selector is null applies to each pod.
PM-90 A namespace config with an empty selector applies to a pod without labels.
PM-91 A namespace config whose selector wants a label In a list applies to a pod with one of these values.
PM-92 Without configs no scoring is wanted.
PM-93 One config with scoring enabled makes scoring wanted.
PM-94 One config with scoring disabled makes no scoring wanted.
PM-95 A config whose plugins do not name scoring makes no scoring wanted.
PM-96 Two configs with scoring disabled make no scoring wanted.
PM-97 One of two configs with scoring enabled makes scoring wanted.
PM-98 Two configs with scoring enabled make scoring wanted.
PM-99 A namespace config whose selector wants a label to exist does not apply to a pod without labels.
PM-100 A namespace config whose selector says NotIn applies to a pod with another value.
PM-101 A namespace config whose selector wants a label not to exist applies to a pod without it.
PM-102 Selectors of labels and expressions together apply where all of their parts hold: here two of three configs.
PM-103 Where the selectors of all namespace configs are invalid, none applies.
PM-104 A pod is not ignored when cluster scoring is off but a matching namespace config scores.
PM-105 A pod whose nodeSelector names an architecture is ignored when neither cluster nor namespace config scores.
PM-106 A pod in the operator's namespace is ignored although the cluster config scores.
PM-107 A pod in kube-system is ignored although the cluster config scores.
PM-108 A pod whose nodeName is set is ignored although the cluster config scores.
PM-109 A pod is not ignored when one of two matching namespace configs scores.
PM-110 A preference for amd64 of weight 50 from the cluster config is audited as amd64:50:ClusterPodPlacementConfig.
PM-111 The audit lists applied and skipped preferences of several configs, the skipped ones marked as such.
PM-112 The audit does not repeat an entry that it has.
PM-113 Of two preferences for one architecture the audit has both, the second marked as skipped.
PM-114 The audit of six preferences for four architectures has fewer than 500 bytes.
`;
