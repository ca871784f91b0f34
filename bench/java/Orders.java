import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;

/** The orders, each a method. */
final class Orders {
    private final Clients clients;
    private final Slots slots;
    private final boolean listens;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Taker> takers = new ArrayList<>();
    private final List<Future<?>> queue = new ArrayList<>();
    private final ExecutorService one = Executors.newSingleThreadExecutor(); // what holds and elects
    private Locker holder;
    private Future<?> won;
    private Job job;

    Orders(Clients clients, Slots slots, boolean listens) {
        this.clients = clients;
        this.slots = slots;
        this.listens = listens;
    }

    String carryOut(String verb, Map<String, String> values) throws Exception {
        switch (verb) {
            case "cycles":
                return cycles(values);
            case "take":
                return take(values);
            case "drop":
                return drop();
            case "hold":
                holder = Locker.of(clients.first, "mutex", values.get("path"));
                on(one, holder::acquire).get();
                return "";
            case "queue":
                return queue(values);
            case "drain":
                return drain();
            case "left":
                return " nodes=" + clients.contenders(values.get("path"));
            case "resign":
                return resign(values);
            case "campaign":
                Locker candidate = Locker.of(clients.first, "leader", values.get("path"));
                won = on(one, candidate::acquire);
                clients.await(values.get("path"), number(values, "total"), 0);
                return "";
            case "elected":
                won.get();
                return "";
            case "work":
                job = new Job(clients.first, values.get("path"), listens);
                return job.began();
            case "stopped":
                return job.stopped(values);
            case "memory":
                return memory();
            default:
                throw new IllegalArgumentException("no order " + verb);
        }
    }

    /** What a thread does, which may fail. */
    interface Work {
        void run() throws Exception;
    }

    private static Future<?> on(ExecutorService executor, Work work) {
        return executor.submit((Callable<Void>) () -> {
            work.run();
            return null;
        });
    }

    private static int number(Map<String, String> values, String key) {
        return Integer.parseInt(values.getOrDefault(key, "0"));
    }

    private static String measured(long ops, long all, long nanos) {
        return "ops=" + ops + " all=" + all + " ns=" + nanos;
    }

    private String cycles(Map<String, String> values) throws Exception {
        boolean own = Boolean.parseBoolean(values.get("own"));
        String[] kinds =
                values.get("kind").equals("readwrite") ? new String[] {"read", "write"} : new String[] {values.get("kind")};
        AtomicLong inTime = new AtomicLong();
        AtomicLong late = new AtomicLong();
        long limit = TimeUnit.MILLISECONDS.toNanos(number(values, "for"));
        long start = System.nanoTime();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < number(values, "goroutines"); i++) {
            int worker = i;
            String path = values.get("path") + (own ? "/" + i : "");
            all.add(on(threads, () -> {
                Locker[] lockers = new Locker[kinds.length];
                for (int k = 0; k < kinds.length; k++) {
                    lockers[k] = Locker.of(clients.first, kinds[k], path);
                }
                for (int turn = 0; System.nanoTime() - start < limit; turn++) {
                    int which = kinds.length == 2 && (turn + worker) % 20 == 0 ? 1 : 0;
                    lockers[which].acquire();
                    slots.hold(own ? worker + 1 : 0, kinds[which], number(values, "dwell"));
                    lockers[which].release();
                    (System.nanoTime() - start < limit ? inTime : late).incrementAndGet();
                }
            }));
        }
        await(all);
        return measured(inTime.get(), inTime.get() + late.get(), limit);
    }

    private static void await(List<Future<?>> all) throws Exception {
        for (Future<?> f : all) {
            f.get();
        }
    }

    /** One thread, with what it has taken: Curator's mutex must be released where it was acquired. */
    private static final class Taker {
        final ExecutorService thread = Executors.newSingleThreadExecutor();
        final List<Locker> held = new ArrayList<>();
    }

    private String take(Map<String, String> values) throws Exception {
        int n = number(values, "n");
        AtomicLong next = new AtomicLong();
        long start = System.nanoTime();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < Math.min(n, number(values, "workers")); i++) {
            Taker taker = new Taker();
            takers.add(taker);
            all.add(on(taker.thread, () -> {
                for (long k = next.getAndIncrement(); k < n; k = next.getAndIncrement()) {
                    Locker locker = Locker.of(clients.first, "mutex", values.get("path") + "/" + k);
                    locker.acquire();
                    taker.held.add(locker);
                }
            }));
        }
        await(all);
        return measured(n, n, System.nanoTime() - start);
    }

    private String drop() throws Exception {
        List<Future<?>> all = new ArrayList<>();
        for (Taker taker : takers) {
            all.add(on(taker.thread, () -> {
                for (Locker locker : taker.held) {
                    locker.release();
                }
            }));
            taker.thread.shutdown();
        }
        takers.clear();
        await(all);
        return "";
    }

    private String queue(Map<String, String> values) throws Exception {
        int n = number(values, "n");
        long start = System.nanoTime();
        for (int i = 0; i < n; i++) {
            queue.add(on(threads, () -> {
                Locker locker = Locker.of(clients.first, "mutex", values.get("path"));
                locker.acquire();
                slots.hold(0, "mutex", number(values, "dwell"));
                locker.release();
            }));
        }
        clients.await(values.get("path"), number(values, "total"), number(values, "limit"));
        return measured(n, n, System.nanoTime() - start);
    }

    private String drain() throws Exception {
        long start = System.nanoTime();
        if (holder != null) {
            on(one, holder::release).get();
            holder = null;
        }
        int n = queue.size();
        await(queue);
        queue.clear();
        return measured(n, n, System.nanoTime() - start);
    }

    private String resign(Map<String, String> values) throws Exception {
        int n = number(values, "n");
        String path = values.get("path");
        long took = 0;
        try (CuratorFramework other = clients.connect()) {
            Locker leader = Locker.of(clients.first, "leader", path);
            Locker next = Locker.of(other, "leader", path);
            leader.acquire();
            for (int i = 0; i < n; i++) {
                Locker candidate = next;
                AtomicLong at = new AtomicLong();
                Future<?> elected = on(threads, () -> {
                    candidate.acquire();
                    at.set(System.nanoTime());
                    slots.hold(0, "leader", 0);
                });
                clients.await(path, 2, 0);
                long start = System.nanoTime();
                leader.release();
                elected.get();
                took += at.get() - start;
                next = leader;
                leader = candidate;
            }
            leader.release();
        }
        return measured(n, n, took);
    }

    private static String memory() throws Exception {
        System.gc();
        String[] pages = Files.readString(Path.of("/proc/self/statm")).split(" ");
        long heap = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
        return "heap=" + heap + " rss=" + 4096 * Long.parseLong(pages[1]) + " goroutines=" + Thread.activeCount();
    }
}
