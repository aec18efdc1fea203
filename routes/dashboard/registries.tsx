// The panel of the registries in use: state and quota of each.
import type { JSX } from "hono/jsx/jsx-runtime";
import { Nothing, NoValue, Panel, renderCount } from "./elements.tsx";
import type { RegistryView } from "./view.ts";

const REGISTRIES_SHOWN = 10;

export function RegistriesPanel({ registries }: { registries: readonly RegistryView[] }): JSX.Element {
  if (registries.length === 0) {
    return (
      <Panel id="registries" title="Registries" note="">
        <Nothing title="None asked yet" says="Registries appear when the first image is inspected." />
      </Panel>
    );
  }
  const shown = registries.slice(0, REGISTRIES_SHOWN);
  const more = registries.length - shown.length;
  return (
    <Panel id="registries" title="Registries" note="quota left">
      <table role="table" class="registries">
        <caption class="unseen">Registries: circuit, last error and requests left</caption>
        <thead role="rowgroup" class="unseen">
          <tr role="row">
            <th role="columnheader" scope="col">Registry and last error</th>
            <th role="columnheader" scope="col">Circuit</th>
            <th role="columnheader" scope="col">Quota</th>
          </tr>
        </thead>
        <tbody role="rowgroup">{shown.map((registry) => RegistryRow({ registry }))}</tbody>
      </table>
      {more > 0 ? <p class="more">and {more} more</p> : ""}
    </Panel>
  );
}

const CIRCUIT: Readonly<Record<RegistryView["circuit"], { readonly label: string; readonly tone: string }>> = {
  "closed": { label: "healthy", tone: "good" },
  "half-open": { label: "probing", tone: "warn" },
  "open": { label: "held back", tone: "bad" },
};

function RegistryRow({ registry }: { registry: RegistryView }): JSX.Element {
  const { host, circuit, lastFailure, remaining } = registry;
  const { label, tone } = CIRCUIT[circuit];
  return (
    <tr role="row">
      <td role="cell" class="host">
        <bdi>{host}</bdi>
        <span class="reason">{lastFailure === undefined ? "no error" : `last error ${lastFailure.reason}`}</span>
      </td>
      <td role="cell">
        <span class={`chip ${tone}`} title={`circuit ${circuit}`}>{label}</span>
      </td>
      <td role="cell" class="number">
        {remaining === undefined ? <NoValue says="quota unknown" /> : renderCount(remaining)}
      </td>
    </tr>
  );
}
