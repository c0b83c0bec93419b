// An epidemic in a closed population (SIR), for one pair of rates. Runs on a GridMachine; needs any Node from 18 on.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Follows the epidemic by Runge and Kutta's fourth-order method; rates per day, shares of the population. */
export function simulate({ infectedAtStart, daysMax, stepsPerDay }, { contactRate, recoveryRate }) {
  let state = [1 - infectedAtStart, infectedAtStart];
  let peak = { infected: infectedAtStart, day: 0 };
  const step = 1 / stepsPerDay;
  const slope = ([susceptible, infected]) => {
    const caught = contactRate * susceptible * infected;
    return [-caught, caught - recoveryRate * infected];
  };
  const along = (from, direction, length) => from.map((value, index) => value + direction[index] * length);
  for (let round = 1; round <= daysMax * stepsPerDay; round++) {
    const k1 = slope(state);
    const k2 = slope(along(state, k1, step / 2));
    const k3 = slope(along(state, k2, step / 2));
    const k4 = slope(along(state, k3, step));
    state = state.map((value, index) => value + (step / 6) * (k1[index] + 2 * k2[index] + 2 * k3[index] + k4[index]));
    if (state[1] > peak.infected) peak = { infected: state[1], day: round * step };
  }
  return { contactRate, recoveryRate, peakShare: peak.infected, peakDay: peak.day, everInfectedShare: 1 - state[0] };
}

if (basename(process.argv[1] ?? '') === 'epidemic.mjs') {
  const [settings, contactRate, recoveryRate, out] = process.argv.slice(2);
  const rates = { contactRate: Number(contactRate), recoveryRate: Number(recoveryRate) };
  if (!(rates.contactRate > 0) || !(rates.recoveryRate > 0))
    throw new Error(`the rates are ${contactRate} and ${recoveryRate}; expected numbers above 0`);
  writeFileSync(out, `${JSON.stringify(simulate(JSON.parse(readFileSync(settings, 'utf8')), rates))}\n`);
}
