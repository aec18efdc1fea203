// Rows about pods that no catalogue of the MTO has (Q), one line each: queues, volumes, Wasm, virtual machines, pins that cannot work.

/** Pods that are unusual. */
export const Q = `
Q-01 A pod that pins architectures which its images lack is left as it is, with one Warning that names image, pin and what the image has.
Q-02 A Workload of Kueue waits for its images, a minute at most, and is admitted to no flavor on which they do not run.
Q-03 An image volume of an index keeps its pod to the platforms of the index, and one of a single manifest or an artifact does not.
Q-04 A Wasm image runs wherever a RuntimeClass does that runs Wasm by its name, without settings, and native containers beside it constrain the pod.
Q-05 Where a virtual machine may run on nodes of other architectures than its guest's, its container disks count as image volumes and its launcher's image constrains it.
Q-06 An image that comes to a pod on its node and lacks the node's architecture, or the one the pod requires, causes one Warning; no other update reaches the webhook.
Q-07 A node without the label of its architecture is named by a condition of the config and by a report of the whole cluster.
Q-08 An image that policy.json wants signed is placed by its manifest, and only reject blocks it.
Q-09 With managed taints a pod that placement leaves alone tolerates the architectures that all its images have, and all of them while these are unknown.
Q-10 A report holds more than 10 000 workloads and 5 000 images within a bound of bytes, and shows on a terminal how far it is.
`;
