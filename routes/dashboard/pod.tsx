// The page of a pod: its history, and what was known of each of its images.
import type { JSX } from "hono/jsx/jsx-runtime";
import { renderDuration } from "../../lib/vocabulary/duration.ts";
import type { DecidedImage, RecentDecision } from "../../lib/placement/decide/history/recent_decisions.ts";
import { historiesOf, latestOf, type PodHistory, UNNAMED } from "../../lib/placement/decide/history/pod_histories.ts";
import { Age, Architectures } from "./decisions.tsx";
import { EmptyPanel, Nothing, Panel, PodName } from "./elements.tsx";
import type { DashboardView } from "./view.ts";
import { KIND_WORDS, wordsOf } from "./words.ts";

export function PodPanels(
  { view: { decisions, nowMs }, namespace, pod }: { view: DashboardView; namespace: string; pod: string },
): JSX.Element {
  const histories = historiesOf(decisions.recent).filter((history) => isOf(latestOf(history), namespace, pod));
  const [history] = histories;
  return (
    <>
      <h2 class="subject">
        <PodName namespace={namespace} pod={pod} />
      </h2>
      {history === undefined
        ? (
          <EmptyPanel
            id="way"
            title="Its way"
            what="Not known here"
            says="This replica decided nothing about it lately. Another one may have."
          />
        )
        : <Known history={history} nowMs={nowMs} />}
      <Panel id="more" title="All that the cluster knows" note="">
        <p class="command">
          <code>{`archway explain pod/${pod} -n ${namespace}`}</code>
        </p>
      </Panel>
    </>
  );
}

function isOf(entry: RecentDecision, namespace: string, pod: string): boolean {
  return entry.namespace === namespace && entry.pod === pod;
}

function Known({ history, nowMs }: { history: PodHistory; nowMs: number }): JSX.Element {
  const { architectures, images, pod } = latestOf(history);
  return (
    <>
      <Panel id="way" title="Its way" note={pod.endsWith(UNNAMED) ? "it had no name yet" : ""}>
        <ul class="rows">{history.entries.map((entry) => <Step key={entry.atMs} entry={entry} nowMs={nowMs} />)}</ul>
        <p class="more">
          May run on <Architectures names={architectures} />
        </p>
      </Panel>
      <Panel id="images" title="Its images" note={images.length === 0 ? "" : "as they were known then"}>
        {images.length === 0
          ? <Nothing title="None were looked at" says="The decision did not need them." />
          : <ul class="rows">{images.map((image) => <Image key={image.image} image={image} />)}</ul>}
      </Panel>
    </>
  );
}

function Step({ entry, nowMs }: { entry: RecentDecision; nowMs: number }): JSX.Element {
  const { atMs, gatedMs, kind } = entry;
  const { label, tone } = KIND_WORDS[kind];
  return (
    <li>
      <span>
        <span class={`chip ${tone}`}>{label}</span> {wordsOf(entry)}
        {gatedMs === undefined ? "" : <span class="reason">{`, held for ${renderDuration(gatedMs)}`}</span>}
      </span>
      <span class="number">
        <Age atMs={atMs} nowMs={nowMs} />
      </span>
    </li>
  );
}

function Image({ image: { architectures, failure, image } }: { image: DecidedImage }): JSX.Element {
  return (
    <li>
      <span class="host">
        <bdi>{image}</bdi>
        {failure === "" ? "" : <span class="reason">{failure}</span>}
      </span>
      <span class="architectures">
        {architectures.length === 0 ? "not known" : <Architectures names={architectures} />}
      </span>
    </li>
  );
}
