// The API server as a leader may use it: reads always, writes only while no other replica can lead.
import type { KubeApi } from "./api.ts";
import { ApiError } from "./errors.ts";

/**
 * The same API, whose writes fail once `mayWrite` returns false. A process that was suspended past the end of its Lease
 * resumes in the middle of its work, before any timer has run, and another replica may lead by then.
 */
export function fenceWrites(api: KubeApi, mayWrite: () => boolean): KubeApi {
  async function fenced<T>(write: () => Promise<T>): Promise<T> {
    if (mayWrite()) return await write();
    throw new ApiError("Cannot write: the Lease of this replica has run out. Whoever leads now will.", { status: 0 });
  }
  return {
    get: (...call) => api.get(...call),
    list: (...call) => api.list(...call),
    watch: (...call) => api.watch(...call),
    create: (...call) => fenced(() => api.create(...call)),
    replace: (...call) => fenced(() => api.replace(...call)),
    patch: (...call) => fenced(() => api.patch(...call)),
    delete: (...call) => fenced(() => api.delete(...call)),
    raw: (...call) => api.raw(...call),
    serverClockOffsetMs: () => api.serverClockOffsetMs(),
  };
}
