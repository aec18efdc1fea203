// The runtime's analysis of the scripts' imports, for the image. A replica's root is read-only: without it each start
// would parse every module again, and 40 MB of what that takes are never given back.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { runTool } from "../tool.ts";

interface AnalysisOptions {
  readonly scripts: string;
  readonly installed: string;
  /** Is made, or emptied first: the runtime's cache folder of the image. */
  readonly folder: string;
}

/** The database, and the two files without which it cannot be opened where nothing can be written. */
const DATABASE = "dep_analysis_cache_v2";
const SUFFIXES = ["", "-wal", "-shm"] as const;

export const ANALYSIS_FILES: readonly string[] = SUFFIXES.map((suffix) => `${DATABASE}${suffix}`);

/**
 * Fills the folder by starting the program once, for this runtime and these scripts. Throws when the runtime has kept
 * nothing.
 */
export async function writeAnalysis({ scripts, installed, folder }: AnalysisOptions): Promise<void> {
  const own = await Deno.makeTempDir({ prefix: "archway-analysis-" });
  try {
    const env = { DENO_DIR: own, NO_COLOR: "1" };
    await runTool(Deno.execPath(), ["run", "-qP", join(scripts, "archway"), "--version"], { env });
    await Deno.remove(folder, { recursive: true }).catch(() => undefined);
    await Deno.mkdir(folder, { recursive: true });
    const database = new DatabaseSync(join(own, DATABASE));
    try {
      relocate(database, { from: folderUrl(await Deno.realPath(scripts)), to: folderUrl(installed) });
      // The runtime wants statistics of its tables and a write-ahead log, which it would write when it opens the
      // database. Where nothing can be written a database with a log can be read only beside the log's two files, which
      // are there while it is open.
      database.exec("ANALYZE");
      for (const name of ANALYSIS_FILES) await Deno.copyFile(join(own, name), join(folder, name));
    } finally {
      database.close();
    }
  } finally {
    await Deno.remove(own, { recursive: true });
  }
}

function folderUrl(path: string): string {
  return `${pathToFileURL(path).href}/`;
}

function relocate(database: DatabaseSync, { from, to }: { readonly from: string; readonly to: string }): void {
  database.exec("PRAGMA journal_mode=WAL");
  database.prepare("DELETE FROM moduleinfocache WHERE NOT specifier GLOB ? || '*'").run(from);
  const { changes } = database.prepare("UPDATE moduleinfocache SET specifier = replace(specifier, ?, ?)").run(from, to);
  if (Number(changes) === 0) throw new Error(`Cannot keep what the runtime knows of "${from}": it has kept nothing`);
}
