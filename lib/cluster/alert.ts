// One alert, as all lists of alerts have it.

/** An alert. The expression is PromQL over Archway's own metrics. */
export interface Alert {
  /** Its name; automation and runbooks key on it. */
  readonly name: string;
  readonly expression: string;
  /** How long the expression must hold: `5m`. */
  readonly forDuration: string;
  /** `critical`: an administrator must act at once. */
  readonly severity: "critical" | "warning" | "info";
  /** One sentence: what is wrong. */
  readonly summary: string;
  /** What it means for pods, and numbers. */
  readonly description: string;
}
