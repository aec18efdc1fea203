// The former name of the API server in memory.
export { MemoryCluster as WatchedApi } from "./memory_kube_api.ts";
