// Which login may get another answer than a refused one: the first row that fits. Pure.
//
//   tried            challenge expected   offered now   next
//   no login         none                 none          none: no login is wanted
//   any              any                  none          other credential
//   any              one                  another       all as offered: each credential, and again those before it
//   denied           any                  any           other credential
//   with a header    any                  Basic         other credential
//   else             any                  any           as offered: the same credential, then the others
import { type Challenge, isSameLogin } from "./challenge.ts";

export type NextLogin = "none" | "other credential" | "all as offered" | "as offered";

/** `kind`: whether the refused request was logged in by a `header`, or its credential `denied` before. */
export function nextLogin(
  { kind, challenge: expected }: {
    readonly kind: "header" | "none" | "denied";
    readonly challenge: Challenge | undefined;
  },
  offered: Challenge | undefined,
): NextLogin {
  const isLoggedIn = kind === "header";
  if (offered === undefined) return isLoggedIn || expected !== undefined ? "other credential" : "none";
  if (expected !== undefined && !isSameLogin(expected, offered)) return "all as offered";
  return kind === "denied" || isLoggedIn && offered.kind === "basic" ? "other credential" : "as offered";
}
