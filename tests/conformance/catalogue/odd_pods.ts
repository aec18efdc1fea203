// Rows about pods that no catalogue of the MTO has (Q), one line each: queues, volumes, Wasm, virtual machines, pins that cannot work.

/** Pods that are unusual. */
export const Q = `
Q-01 a pod pins architectures that its images lack: one Warning names image, pin and what the image has
Q-08 an image that policy.json wants signed is placed by its manifest; only reject blocks
`;
