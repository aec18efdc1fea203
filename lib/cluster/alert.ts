// One alert, as all lists of alerts have it.

/** An alert. The expression is PromQL over Archway's own metrics. */
export interface Alert {
  readonly name: string;
  readonly expression: string;
  /** How long the expression must hold: `5m`. */
  readonly forDuration: string;
  /** `critical`: an administrator must act at once. */
  readonly severity: "critical" | "warning" | "info";
  readonly summary: string;
  readonly description: string;
}
