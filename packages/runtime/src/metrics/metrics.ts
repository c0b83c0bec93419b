import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** One series as the reference of metrics shows it. */
export interface SeriesDescription {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/** The series of one process, for Prometheus. A series asked for again is the same one. */
export class Metrics {
  readonly #registry = new Registry();

  /** @param options.withProcess also memory, processor time and event loop delay of this process. */
  constructor(options?: { readonly withProcess: boolean }) {
    if (options?.withProcess === true) collectDefaultMetrics({ register: this.#registry });
  }

  /** A count that only grows. @param name ends in `_total`. */
  counter<Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []): Counter<Label> {
    const known = this.#registry.getSingleMetric(name);
    return known === undefined
      ? new Counter({ name, help, labelNames, registers: [this.#registry] })
      : (known as Counter<Label>);
  }

  /** A value that goes up and down. @param collect sets it again before each reading. */
  gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    collect?: (gauge: Gauge<Label>) => void,
  ): Gauge<Label> {
    const known = this.#registry.getSingleMetric(name);
    if (known !== undefined) return known as Gauge<Label>;
    const gauge: Gauge<Label> = new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      ...(collect === undefined
        ? {}
        : {
            collect: () => {
              collect(gauge);
            },
          }),
    });
    return gauge;
  }

  /** A distribution. @param buckets upper bounds, ascending. */
  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    const known = this.#registry.getSingleMetric(name);
    return known === undefined
      ? new Histogram({ name, help, labelNames, buckets: [...buckets], registers: [this.#registry] })
      : (known as Histogram<Label>);
  }

  /** All series without their values, in the order in which they were made. */
  describe(): SeriesDescription[] {
    return this.#registry.getMetricsAsArray().map((metric) => {
      const {
        name,
        help,
        labelNames = [],
      } = metric as unknown as {
        readonly name: string;
        readonly help: string;
        readonly labelNames?: readonly string[];
      };
      const type = metric instanceof Counter ? 'counter' : metric instanceof Histogram ? 'histogram' : 'gauge';
      return { name, type, labels: labelNames, help };
    });
  }

  /** All series in the text format of Prometheus. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** The media type of `text`. */
  get contentType(): string {
    return this.#registry.contentType;
  }
}
