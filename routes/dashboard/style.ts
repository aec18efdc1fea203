// The style of the dashboard: one style sheet, light and dark, from 360 px up. The page's policy
// names its hash.

/** The style sheet. Text on its ground has a contrast of 4.5 or more, in both schemes. */
export const DASHBOARD_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f8; --panel: #ffffff; --ink: #161a23; --soft: #596275; --line: #e4e7ee; --hover: #f7f8fb;
  --accent: #4558d0; --keystone: #e8973a; --shadow: 0 1px 2px #1b23400f, 0 6px 20px -8px #1b23401a;
  --good: #14734a; --good-tint: #e0f5ea; --wait: #3347b8; --wait-tint: #e7eafc;
  --warn: #885200; --warn-tint: #fdf0d5; --late: #9c3f10; --late-tint: #fde9dd;
  --bad: #b3203a; --bad-tint: #fde5e9; --calm: #525b6d; --calm-tint: #eceff4;
  --place: #2fa673; --gate: #6375e6; --retry: #e3b04b; --nowhere: #d9435c; --fallback: #e88a4a; --release: #c9683a;
  --bare: #a22f6d; --ignore: #a3acbc; --pass: #cfd5df;
  --amd64: #2457a8; --arm64: #0b6d66; --ppc64le: #7238a6; --s390x: #9a4a08;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0c0f16; --panel: #151a24; --ink: #e9ecf3; --soft: #9aa5b8; --line: #252c3a; --hover: #1a202c;
    --accent: #8c9bff; --keystone: #f2ad5c; --shadow: 0 1px 0 #ffffff08 inset, 0 8px 24px -12px #000000aa;
    --good: #62d8a1; --good-tint: #12352a; --wait: #a9b5ff; --wait-tint: #212a55;
    --warn: #f2c066; --warn-tint: #3a2d12; --late: #f7a477; --late-tint: #40251a;
    --bad: #ff8d9d; --bad-tint: #45202a; --calm: #a9b3c4; --calm-tint: #242b38;
    --place: #3dbd86; --gate: #7587f5; --retry: #e5b857; --nowhere: #f0596f; --fallback: #ee9657; --release: #d27a4d;
    --bare: #cf5c9b; --ignore: #6b7588; --pass: #465064;
    --amd64: #8ab8ff; --arm64: #5fd6cb; --ppc64le: #d0a3f7; --s390x: #f5b271;
  }
}
* { box-sizing: border-box; margin: 0; }
html { -webkit-text-size-adjust: 100%; }
body {
  background: var(--ground); color: var(--ink);
  font: 14px/1.5 -apple-system, "Segoe UI Variable", "Segoe UI", Inter, Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
.masthead, main, body > footer { max-width: 2360px; margin: 0 auto; padding: 0 24px; }
main { display: grid; gap: 16px; }
h1, h2 { font-weight: 650; letter-spacing: -.01em; }
a { color: var(--accent); text-underline-offset: 3px; }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px; }
.unseen {
  position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}
.number { text-align: right; white-space: nowrap; }

.masthead { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; padding-block: 20px 16px; }
.masthead h1 { display: flex; align-items: center; gap: 10px; font-size: 20px; letter-spacing: -.02em; }
.masthead svg { width: 28px; height: 28px; fill: var(--accent); }
.masthead .keystone { fill: var(--keystone); }
.masthead h1 a, .pod a { color: inherit; text-decoration: none; }
.masthead h1 a:hover, .pod a:hover { text-decoration: underline; }
.masthead h1 small { font-size: 15px; font-weight: 450; color: var(--soft); }
.replica {
  margin-left: auto; display: flex; align-items: center; gap: 10px; min-width: 0; overflow-wrap: anywhere;
  color: var(--soft); font: 13px/1.4 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, "Liberation Mono", monospace;
}

.panel, .tile, .status {
  background: var(--panel); border: 1px solid var(--line); border-radius: 14px; box-shadow: var(--shadow);
}
.status { display: grid; grid-template-columns: auto 1fr auto; align-items: center; gap: 4px 16px; padding: 18px 22px; }
.status h2 { font-size: 19px; letter-spacing: -.02em; line-height: 1.3; }
.status p { color: var(--soft); text-wrap: pretty; }
.status dl { display: flex; flex-wrap: wrap; gap: 6px 0; }
.status dl div { padding: 0 22px; border-left: 1px solid var(--line); }
.status dl div:last-child { padding-right: 0; }
.status dt { color: var(--soft); font-size: 12px; }
.status dd { font-weight: 600; overflow-wrap: anywhere; max-width: 190px; }
.lamp { width: 40px; height: 40px; }
.lamp path { fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.good .lamp { color: var(--good); } .good .lamp circle { fill: var(--good-tint); }
.warn .lamp { color: var(--warn); } .warn .lamp circle { fill: var(--warn-tint); }

.tiles { display: grid; grid-template-columns: repeat(4, 1fr) 1.9fr; gap: 16px; }
.tile { padding: 14px 18px; min-width: 0; }
.tile h2 { font-size: 13px; font-weight: 550; color: var(--soft); letter-spacing: 0; }
.value { font-size: 28px; line-height: 1.25; font-weight: 650; letter-spacing: -.03em; }
.value small { font-size: 13px; font-weight: 450; letter-spacing: 0; color: var(--soft); }
.note, .more { color: var(--soft); font-size: 12px; }
.times { display: grid; grid-template-columns: auto 1fr; column-gap: 20px; }
.times > * { grid-column: 1; white-space: nowrap; }
.times svg { grid-column: 2; grid-row: 1 / 4; align-self: end; width: 100%; max-height: 58px; fill: var(--gate); }

.columns { display: grid; grid-template-columns: minmax(0, 1fr) 340px; gap: 16px; align-items: start; }
.narrow { display: grid; gap: 16px; }
.wide:has(.nothing) { align-self: stretch; }
.wide:has(.nothing) .panel { height: 100%; display: grid; grid-template-rows: auto 1fr; align-items: center; }
.panel { overflow: hidden; }
.panel > header { display: flex; align-items: baseline; justify-content: space-between; padding: 14px 18px 10px; }
.panel h2 { font-size: 15px; }
.nothing { padding: 14px 18px 24px; color: var(--soft); text-align: center; text-wrap: balance; }
.nothing strong { display: block; color: var(--ink); font-weight: 600; }

table { width: 100%; border-collapse: collapse; }
th { font-size: 12px; font-weight: 500; color: var(--soft); text-align: left; padding: 4px 8px 8px; }
th.number { text-align: right; }
td { padding: 7px 8px; border-top: 1px solid var(--line); vertical-align: baseline; }
tr > :first-child { padding-left: 18px; }
tr > :last-child { padding-right: 18px; }
tbody tr:hover { background: var(--hover); }
.age { color: var(--soft); white-space: nowrap; }
.name { overflow-wrap: anywhere; font-weight: 550; }
.namespace { color: var(--soft); font-weight: 400; }
.reason { color: var(--soft); font-size: 12px; }
.way { display: inline-flex; flex-wrap: wrap; gap: 2px 6px; margin-right: 8px; }
.before { color: var(--soft); font-size: 12px; }
.reason.image { display: block; }
.subject { font-size: 19px; overflow-wrap: anywhere; }
.command { padding: 0 18px 16px; overflow-wrap: anywhere; }
.command code { font: 13px/1.5 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, "Liberation Mono", monospace; }
.rows.steps li { display: grid; grid-template-columns: minmax(0, 1fr) minmax(80px, 34%) 84px; align-items: center; }
.stages { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(520px, 100%), 1fr)); gap: 16px; align-items: start; }
.time-bar { width: 100%; height: 6px; }
.track { fill: var(--line); }
.outcome .reason { overflow-wrap: anywhere; }
.held { font-weight: 500; }
.none { color: var(--soft); font-weight: 400; }
.chip {
  display: inline-block; padding: 1px 9px; border-radius: 99px; white-space: nowrap;
  font: 550 12px/1.6 -apple-system, "Segoe UI Variable", "Segoe UI", Inter, Roboto, "Helvetica Neue", Arial, sans-serif;
}
.chip.good { color: var(--good); background: var(--good-tint); }
.chip.wait, .chip.lead { color: var(--wait); background: var(--wait-tint); }
.chip.warn { color: var(--warn); background: var(--warn-tint); }
.chip.late { color: var(--late); background: var(--late-tint); }
.chip.bad { color: var(--bad); background: var(--bad-tint); }
.chip.calm { color: var(--calm); background: var(--calm-tint); }
.decisions th:nth-child(4) { width: 246px; }
.architectures { line-height: 1.8; }
.arch {
  display: inline-block; margin-right: 4px; padding: 0 5px; border: 1px solid var(--line); border-radius: 5px;
  font: 11.5px/1.6 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, "Liberation Mono", monospace;
  color: var(--soft); overflow-wrap: anywhere;
}
.arch.amd64 { color: var(--amd64); } .arch.arm64 { color: var(--arm64); }
.arch.ppc64le { color: var(--ppc64le); } .arch.s390x { color: var(--s390x); }

.rows, .legend { list-style: none; padding: 0; }
.rows li { display: flex; justify-content: space-between; gap: 12px; padding: 8px 18px; border-top: 1px solid var(--line); }
.panel > .more { padding: 8px 18px 12px; border-top: 1px solid var(--line); }
.bar { display: block; width: calc(100% - 36px); height: 12px; margin: 2px 18px 12px; border-radius: 6px; }
.bar rect { stroke: var(--panel); stroke-width: 1; vector-effect: non-scaling-stroke; }
.legend { display: grid; grid-template-columns: 1fr 1fr; gap: 6px 24px; padding: 0 18px 16px; }
.legend li { display: flex; align-items: center; gap: 8px; }
.legend .number { margin-left: auto; font-weight: 600; }
.dot { width: 9px; height: 9px; flex: none; }
.place { fill: var(--place); } .gate { fill: var(--gate); } .retry { fill: var(--retry); }
.nowhere { fill: var(--nowhere); } .fallback { fill: var(--fallback); } .release { fill: var(--release); }
.bare { fill: var(--bare); } .ignore { fill: var(--ignore); } .pass { fill: var(--pass); }
.host { overflow-wrap: anywhere; font-weight: 550; }
.host .reason { display: block; font-weight: 400; }

body > footer {
  display: flex; flex-wrap: wrap; justify-content: space-between; gap: 6px 24px; padding-block: 20px 32px;
  color: var(--soft); font-size: 12px;
}
footer nav { display: flex; gap: 18px; }

@media (min-width: 1900px) {
  .columns { grid-template-columns: minmax(0, 1fr) 860px; }
  .narrow { grid-template-columns: 1fr 1fr; align-items: start; }
}
@media (max-width: 1020px) {
  .columns { grid-template-columns: minmax(0, 1fr); }
  .tiles { grid-template-columns: repeat(4, 1fr); }
  .tile:last-child { grid-column: 1 / -1; }
  .status { grid-template-columns: auto 1fr; }
  .status dl { grid-column: 1 / -1; margin-top: 12px; }
  .status dl div:first-child { padding-left: 0; border-left: 0; }
}
@media (max-width: 640px) {
  .masthead, main, body > footer { padding-inline: 14px; }
  .replica { margin-left: 0; width: 100%; justify-content: space-between; }
  main, .columns, .narrow, .tiles { gap: 12px; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .tile { padding: 12px 14px; }
  .status { padding: 16px; align-items: start; }
  .status dl div { padding-right: 16px; padding-left: 16px; }
  .rows.steps li { grid-template-columns: minmax(0, 1fr) 84px; }
  .time-bar { grid-column: 1 / -1; grid-row: 2; }
  .decisions thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .decisions, .decisions tbody { display: block; }
  .decisions tr {
    display: grid; grid-template-columns: 1fr auto; gap: 3px 12px; padding: 11px 16px; border-top: 1px solid var(--line);
  }
  .decisions td { border: 0; padding: 0; }
  .decisions .pod { grid-column: 1; grid-row: 1; }
  .decisions .age { grid-column: 2; grid-row: 1; text-align: right; }
  .decisions .outcome { grid-column: 1; grid-row: 2; }
  .decisions .held { grid-column: 2; grid-row: 2; }
  .decisions .architectures { grid-column: 1 / -1; grid-row: 3; }
  .decisions .architectures:has(.none) { position: absolute; clip-path: inset(50%); }
}
@media (forced-colors: active) { .chip, .arch { border: 1px solid; } }
`;
