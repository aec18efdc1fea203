import { type Hour, type Series, testHours } from "./alert_hours.ts";

const DAYS = 3 * 24 * 60;

/** A policy that was read at time 0, and not since; and how often it is to be read (s). */
function readOnce(intervalSeconds: number): Series {
  const labels = '{upgradeconfig_name="managed-upgrade-config"}';
  return {
    [`upgradeoperator_upgradeconfig_sync_timestamp${labels}`]: `0x${DAYS}`,
    [`archway_upgrade_policy_interval_seconds${labels}`]: `${intervalSeconds}x${DAYS}`,
  };
}

const UNREAD = ["ArchwayUpgradePolicyUnread"];

const HOURS: readonly Hour[] = [
  {
    title: "alerts on upgrades: a policy that is to be read each hour and is not read for hours fires",
    series: readOnce(3_600),
    fires: { 60: [], 240: [], 270: UNREAD },
  },
  {
    title:
      "alerts on upgrades: a policy that is to be read once a day does not fire before, and fires some hours after",
    series: readOnce(24 * 3_600),
    fires: { 270: [], [26 * 60]: [], [30 * 60]: UNREAD },
  },
  { title: "alerts on upgrades: a policy that was never read fires none", series: {}, fires: { 270: [] } },
];

testHours(/^ArchwayUpgrade/, HOURS);
