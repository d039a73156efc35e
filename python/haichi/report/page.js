// Comfort only: without it the page shows everything but the zoom, and the browser's own tooltips.
'use strict';
(() => {
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  document.body.append(tip);
  let titled = null;  // element whose <title> is shown by the tip instead of by the browser
  const restore = () => {
    if (titled) titled.element.prepend(titled.title);
    titled = null;
    tip.hidden = true;
  };
  document.addEventListener('pointermove', (event) => {
    const element = event.target.closest?.('rect, g');
    if (titled?.element !== element) {
      restore();
      const title = element?.querySelector(':scope > title');
      if (title) {
        titled = {element, title};
        tip.textContent = title.textContent;
        title.remove();
      }
    }
    tip.hidden = !titled;
    if (!titled) return;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(left, 4)}px`;
    const below = event.clientY + 18;
    const room = below + tip.offsetHeight < innerHeight;
    tip.style.top = `${room ? below : event.clientY - tip.offsetHeight - 10}px`;
  });
  document.addEventListener('pointerleave', restore);
  addEventListener('beforeprint', restore);

  const units = [[1e6, 's'], [1e3, 'ms'], [1, 'µs'], [1e-3, 'ns']];
  const make = (name, attributes, text) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  document.querySelectorAll('svg.gantt').forEach((svg) => {
    const left = +svg.dataset.left, width = +svg.dataset.width;
    const full = +svg.dataset.units, span = +svg.dataset.span;
    const plot = svg.querySelector('svg.plot'), axis = svg.querySelector('.axis');
    const ticks = axis.querySelector('.ticks'), unit = axis.querySelector('.unit');
    const bottom = +axis.dataset.bottom;
    let begin = 0, end = full;
    const x = (u) => left + (u - begin) / (end - begin) * width;

    const show = (from, to) => {
      const least = full / 200;
      const long = Math.min(Math.max(to - from, least), full);
      begin = Math.min(Math.max(from, 0), full - long);
      end = begin + long;
      const box = plot.getAttribute('viewBox').split(' ');
      plot.setAttribute('viewBox', `${begin} 0 ${end - begin} ${box[3]}`);
      svg.querySelectorAll('.cycles text, .last').forEach((mark) => {
        const at = x(+mark.dataset.u);
        mark.style.display = at < left - 1 || at > left + width + 1 ? 'none' : '';
        if (mark.tagName === 'text') mark.setAttribute('x', at);
        else mark.style.transform = `translateX(${at - mark.dataset.at}px)`;
      });
      draw();
    };
    const draw = () => {
      const micros = (u) => u / full * span;
      const seen = micros(end - begin);
      const [size, name] = units.find(([s]) => micros(end) >= s) ?? units[3];
      const raw = seen / size / 10, power = 10 ** Math.floor(Math.log10(raw));
      const step = power * [1, 2, 5, 10].find((f) => power * f >= raw * 0.999);
      ticks.replaceChildren();
      for (let k = Math.ceil(micros(begin) / size / step - 1e-9); ; ++k) {
        const at = x(k * step * size / span * full);
        if (at > left + width + 0.01) break;
        ticks.append(make('line', {x1: at, x2: at, y1: 14, y2: bottom}));
        const label = String(+(k * step).toPrecision(8));
        ticks.append(make('text', {x: at, y: bottom + 15, 'text-anchor': 'middle'}, label));
      }
      unit.textContent = `time since the call began, ${name}`;
    };
    svg.querySelectorAll('.last').forEach((mark) => { mark.dataset.at = x(+mark.dataset.u); });

    const bar = document.createElement('div');
    bar.className = 'zoom';
    const about = (factor) => {
      const middle = (begin + end) / 2, half = (end - begin) / 2 * factor;
      show(middle - half, middle + half);
    };
    const move = (share) => show(begin + (end - begin) * share, end + (end - begin) * share);
    const actions = [['+', 'zoom in', () => about(0.5)], ['−', 'zoom out', () => about(2)],
      ['◂', 'earlier', () => move(-0.3)], ['▸', 'later', () => move(0.3)],
      ['all', 'show all', () => show(0, full)]];
    for (const [text, name, act] of actions) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = text;
      button.title = name;
      button.setAttribute('aria-label', name);
      button.addEventListener('click', act);
      bar.append(button);
    }
    svg.closest('figure').prepend(bar);

    let start = null, mark = null;
    const at = (event) => {
      const box = svg.getBoundingClientRect();
      const px = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
      return Math.min(Math.max(px, left), left + width);
    };
    svg.addEventListener('pointerdown', (event) => {
      if (event.button || event.pointerType === 'touch') return;
      start = at(event);
      mark = make('rect', {x: start, y: 14, width: 0, height: bottom - 14, class: 'selection'});
      svg.append(mark);
      svg.classList.add('zooming');
      event.preventDefault();
    });
    addEventListener('pointermove', (event) => {
      if (start === null) return;
      mark.setAttribute('x', Math.min(start, at(event)));
      mark.setAttribute('width', Math.abs(at(event) - start));
    });
    addEventListener('pointerup', (event) => {
      if (start === null) return;
      const to = (px) => begin + (px - left) / width * (end - begin);
      const a = Math.min(start, at(event)), b = Math.max(start, at(event));
      if (b - a > 4) show(to(a), to(b));
      mark.remove();
      svg.classList.remove('zooming');
      start = null;
    });
    svg.addEventListener('dblclick', () => show(0, full));
  });
})();
