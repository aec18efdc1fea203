// What every page has. A page loads no other resource and cannot be framed; its one script updates it.
import { createHash } from "node:crypto";
import type { Context } from "hono";
import { html, raw } from "hono/html";
import type { PropsWithChildren } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import STYLE from "./style.css" with { type: "text" };

/** Time between two renderings of an open page (ms). */
const LIVE_MS = 1_000;
/** Time between two reloads of a page in a browser without scripts. */
const REFRESH_SECONDS = 5;
/** Archway's logo: the path of an SVG of 32 by 32. */
const ARCH_PATH = "M4 28V15a12 12 0 0 1 24 0v13h-6V15a6 6 0 0 0-12 0v13z";

const ICON = `data:image/svg+xml,${
  encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#4f63d9" d="${ARCH_PATH}"/></svg>`,
  )
}`;

/** Replaces the content of the page with each message, and keeps the focus on the link that has it. */
const LIVE_SCRIPT = `
const main = document.querySelector("main");
new EventSource("?live").onmessage = ({ data }) => {
  const focused = document.activeElement?.getAttribute("href");
  main.innerHTML = data;
  if (focused) main.querySelector('a[href="' + CSS.escape(focused) + '"]')?.focus();
};
`;

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    `style-src ${hashOf(STYLE)}`,
    `script-src ${hashOf(LIVE_SCRIPT)}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

interface PageParts {
  readonly title: string;
  readonly heading: string;
  readonly corner: JSX.Element | "";
  readonly main: JSX.Element;
}

/** Serves a page that is rendered for each request, and with `?live` a stream of its content whenever that changes. */
export function livePage(
  read: (context: Context) => PageParts | Promise<PageParts>,
): (context: Context) => Promise<Response> {
  return async (context) => {
    if (context.req.query("live") === undefined) {
      return await context.html(html`<!doctype html>${<Page {...await read(context)} />}`, 200, HEADERS);
    }
    const body = changesOf(async () => String((await read(context)).main));
    return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
  };
}

/** A stream of server-sent events: sends the rendered text whenever it has changed, until the client leaves. */
function changesOf(render: () => Promise<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;
  let last = "";
  return new ReadableStream({
    start: (stream) => {
      // The listener ends connections after some seconds. This tells the browser to connect again at once.
      stream.enqueue(encoder.encode("retry: 100\n\n"));
      timer = setInterval(() => {
        if ((stream.desiredSize ?? 0) <= 0) return;
        render().then((text) => {
          if (timer === undefined || text === last) return;
          last = text;
          stream.enqueue(encoder.encode(`data: ${text.replaceAll("\n", "\ndata: ")}\n\n`));
        }, (error) => stream.error(error));
      }, LIVE_MS);
    },
    cancel: () => {
      clearInterval(timer);
      timer = undefined;
    },
  });
}

function Page({ title, heading, corner, main }: PageParts): JSX.Element {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <noscript>
          <meta http-equiv="refresh" content={String(REFRESH_SECONDS)} />
        </noscript>
        <title>{`Archway – ${title}`}</title>
        <link rel="icon" href={ICON} />
        <style>{raw(STYLE)}</style>
      </head>
      <body>
        <Masthead heading={heading}>{corner}</Masthead>
        <main>{main}</main>
        <footer>
          <span>Live. What it shows is what this replica knows since it started.</span>
          <nav aria-label="Other pages">
            <a href="/">Start</a>
            <a href="/metrics">Metrics</a>
            <a href="/readyz">Readiness</a>
          </nav>
        </footer>
        <script type="module">{raw(LIVE_SCRIPT)}</script>
      </body>
    </html>
  );
}

function Masthead({ heading, children }: PropsWithChildren<{ heading: string }>): JSX.Element {
  return (
    <header class="masthead">
      <h1>
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d={ARCH_PATH} />
          <path class="keystone" d="M14.2 3.1h3.6l.9 6.4h-5.4z" />
        </svg>
        <a href="/">Archway</a>
        {heading === "" ? "" : <small>{heading}</small>}
      </h1>
      {children}
    </header>
  );
}
