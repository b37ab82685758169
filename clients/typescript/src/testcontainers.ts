/** Gonebox in a container for tests, with `testcontainers`. Node only. */
import { AbstractStartedContainer, GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from "testcontainers";

/** The image of the newest release. A project pins a version by another tag. */
export const IMAGE = "ghcr.io/gonebox/gonebox:latest";

/**
 * The developer key of the service in the container, unless its environment has another GONEBOX_DEV_KEY. It is no secret: the
 * service accepts it from this machine and private networks alone, which need no credentials for anything else either.
 */
export const KEY = "x_hgj79ngfrz_trbU7JHG2k5NV41q1En5Fw6Bq0BYxP8w5TyuYY0U3cI2uHePp";

const HTTP_PORT = 8080;
const SMTP_PORT = 1025;
const MAILPIT_PORT = 8025;

/**
 * A container of Gonebox that is not started yet: `serve --dev`, which is ready when `start` resolves. The methods of
 * `GenericContainer` change the rest, such as `withNetwork`, `withNetworkAliases` and `withEnvironment`. An application in a
 * container of the same network sends its mail to port 1025 of the alias.
 */
export class GoneboxContainer extends GenericContainer {
  constructor(image = IMAGE) {
    super(image);
    this.withCommand(["serve", "--dev"])
      .withEnvironment({ GONEBOX_DEV_KEY: KEY, GONEBOX_SMTP_TLS_SELF_SIGNED: "false" }) // many applications would not trust the certificate
      .withExposedPorts(HTTP_PORT, SMTP_PORT, MAILPIT_PORT)
      .withWaitStrategy(Wait.forHttp("/readyz", HTTP_PORT));
  }

  override async start(): Promise<StartedGoneboxContainer> {
    return new StartedGoneboxContainer(await super.start(), this.environment["GONEBOX_DEV_KEY"]!);
  }

  /** An engine that is elsewhere: the service is called by the name of its host too, and takes such calls as local (docs/spec/dev.md). */
  protected override async beforeContainerCreated(): Promise<void> {
    const { host } = (await getContainerRuntimeClient()).info.containerRuntime;
    if (host !== "localhost" && this.environment["GONEBOX_DEV_HOSTS"] === undefined) this.withEnvironment({ GONEBOX_DEV_HOSTS: host });
  }
}

/** A running container of Gonebox. */
export class StartedGoneboxContainer extends AbstractStartedContainer {
  /** The developer key. */
  readonly key: string;

  /** @internal */
  constructor(started: StartedTestContainer, key: string) {
    super(started);
    this.key = key;
  }

  /** The URL of the API and the pages, such as http://localhost:32768. */
  get url(): string {
    return `http://${this.#address(HTTP_PORT)}`;
  }

  /** HOST:PORT for the mail of the application under test: any address, without a user; a user's goes to the project of that name. */
  get smtp(): string {
    return this.#address(SMTP_PORT);
  }

  /** The host of `smtp`. */
  get smtpHost(): string {
    return this.getHost();
  }

  /** The port of `smtp`. */
  get smtpPort(): number {
    return this.getMappedPort(SMTP_PORT);
  }

  /** The URL of the APIs of Mailpit and MailHog. */
  get mailpit(): string {
    return `http://${this.#address(MAILPIT_PORT)}`;
  }

  #address(port: number): string {
    const host = this.getHost();
    return `${host.includes(":") ? `[${host}]` : host}:${this.getMappedPort(port)}`;
  }
}
