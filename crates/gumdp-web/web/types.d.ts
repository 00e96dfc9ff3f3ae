// What the page is told: see src/lib.rs for the questions.
import type { Behaviour, Drawn, Distribution, Level } from "../../gumdp-plot/web/views.js";

export interface Finding { severity: "error" | "warning"; line: number | null; column: number | null; message: string; hint: string | null }
export interface Problem extends Drawn {
  name: string; title: string; description: string; notes: string[]; source: string; actions_of_state: number[][]; discount: number;
  initial: [number, number][]; features: string[];
}
export interface Opened { findings: Finding[]; problem: Problem | null }
export interface Entry extends Drawn { name: string; built_in: boolean; title: string; description: string; text: string }
export interface Attitude { risk: string; measure: string; level: number | string }
export interface Levels { levels: Attitude[]; planned: string | null }
export interface Visits { state: string; action: string | null; before: number; after: number }
export interface Change {
  level: number | string | null; between: (number | string | null)[]; visits: Visits[]; first: [number[], number[]];
  mean: [number, number]; tail: [number, number];
}
export interface Changes {
  changes: Change[]; frontier: [number, number][]; complete: boolean;
  bargain: { mean: number; tail: number; paid: number; saved: number; from: number | string | null } | null;
}
export interface Step { state: number; action: number; next: number; probability: number; unlikely: boolean }
export interface Episode { steps: Step[]; cost: number }
export interface Reason { action: number; risk: number | string | null; mean: number | string | null }
export interface Situation {
  time: number; state: number; over: boolean; steps: Step[]; best?: number; reasons?: Reason[]; exact?: boolean; cost?: number; not_above?: number;
}
export interface WhatIf extends Distribution { value: number; action: number }
export type Known = Level & { because?: string };
export type { Behaviour, Distribution };
