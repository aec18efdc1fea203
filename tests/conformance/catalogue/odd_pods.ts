// Rows about pods that no catalogue of the MTO has (Q), one line each: queues, volumes, Wasm, virtual machines, pins that cannot work.

/** Pods that are unusual. */
export const Q = `
Q-01 a pod pins architectures that its images lack: one Warning names image, pin and what the image has
Q-08 an image that policy.json wants signed is placed by its manifest; only reject blocks
Q-09 with managed taints a pod that placement leaves alone tolerates the architectures that all its images have, and all of them while that is unknown
`;
