/** clock.now is the present time in milliseconds, to the second. It stands still while the tab is hidden. */
class Clock {
  now = $state(Date.now());

  start() {
    let timer = 0;
    const tick = () => (this.now = Date.now());
    const follow = () => {
      clearInterval(timer);
      if (document.hidden) return;
      tick();
      timer = window.setInterval(tick, 1000);
    };
    document.addEventListener("visibilitychange", follow);
    follow();
  }
}

export const clock = new Clock();
