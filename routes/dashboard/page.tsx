// The head of every page, which renews itself, and how pages are answered: nothing may run in them, be loaded by them or frame
// them; only their own style sheet applies.
import { html, raw } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { DASHBOARD_STYLE } from "./style.ts";
import { createHash } from "node:crypto";
import type { Context } from "hono";

/** Between two reloads of a page that stays open. */
export const REFRESH_SECONDS = 5;
/** The sign of Archway, as the path of an SVG of 32 by 32. */
export const ARCH_PATH = "M4 28V15a12 12 0 0 1 24 0v13h-6V15a6 6 0 0 0-12 0v13z";

const ICON = `data:image/svg+xml,${
  encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#4f63d9" d="${ARCH_PATH}"/></svg>`,
  )
}`;

/** The head of a page that shows this: `Archway – gating`. */
export function PageHead({ shows }: { shows: string }): JSX.Element {
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta http-equiv="refresh" content={String(REFRESH_SECONDS)} />
      <title>{`Archway – ${shows}`}</title>
      <link rel="icon" href={ICON} />
      <style>{raw(DASHBOARD_STYLE)}</style>
    </head>
  );
}

/** Answers with pages that are rendered anew for each request. The page has the style sheet of the dashboard. */
export function safePage(render: () => JSX.Element): (context: Context) => Response | Promise<Response> {
  const styleHash = createHash("sha256").update(DASHBOARD_STYLE).digest("base64");
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return (context) =>
    context.html(html`<!doctype html>${render()}`, 200, {
      "content-security-policy": policy,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
}
