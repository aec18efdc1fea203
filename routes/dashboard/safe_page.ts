// How pages are answered: nothing may run in them, be loaded by them or frame them; only their own style sheet applies.
import { createHash } from "node:crypto";
import type { Context } from "hono";
import { html } from "hono/html";
import type { JSX } from "hono/jsx/jsx-runtime";
import { DASHBOARD_STYLE } from "./style.ts";

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
