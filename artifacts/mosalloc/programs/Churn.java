import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.nio.ByteBuffer;

/**
 * Java: hash maps, big arrays, direct buffers, threads, collections; and the faults that the virtual machine
 * itself relies on (null pointers, stack overflow, polls at safepoints), which must arrive as exceptions.
 * Prints checksums that depend on nothing but this file.
 */
public final class Churn {
    private static final int THREADS = 4;

    private static long next(long state) { // LCG of Knuth's MMIX
        return state * 6364136223846793005L + 1442695040888963407L;
    }

    private static long maps(long seed, int rounds) {
        long state = seed;
        long sum = 0;
        List<Map<Integer, String>> kept = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            Map<Integer, String> map = new HashMap<>();
            for (int i = 0; i < 20000; i++) {
                state = next(state);
                map.merge((int) (state >>> 40) % 5000, "v" + i, (a, b) -> a.length() < 40 ? a + b : b);
            }
            for (Map.Entry<Integer, String> entry : map.entrySet())
                sum = sum * 31 + entry.getKey() + entry.getValue().hashCode();
            kept.add(map);
            if (kept.size() > 5) kept.remove(0); // the old generation fills and is collected
        }
        return sum;
    }

    private static long arrays(long seed) {
        long state = seed;
        long sum = 0;
        for (int round = 0; round < 12; round++) { // larger than half a region: humongous
            state = next(state);
            long[] array = new long[(int) ((state >>> 33) % (2 << 20)) + 1];
            for (int i = 0; i < array.length; i += 61) array[i] = state ^ i;
            for (int i = 0; i < array.length; i += 61) sum += array[i];
        }
        ByteBuffer direct = ByteBuffer.allocateDirect(16 << 20);
        for (int at = 0; at < direct.capacity(); at += 4096) {
            if (direct.get(at) != 0) throw new IllegalStateException("a direct buffer is not zeroed");
            direct.put(at, (byte) (at >> 12));
        }
        for (int at = 0; at < direct.capacity(); at += 4096) sum = sum * 17 + direct.get(at);
        return sum;
    }

    private static int depth(int n) {
        return depth(n + 1) + 1;
    }

    private static boolean stackOverflows() {
        try {
            depth(0);
        } catch (StackOverflowError expected) {
            return true;
        }
        return false;
    }

    private static final class Node {
        int value = 1;
        Node next;
    }

    private static int nullPointers() { // compiled code has no test for null: it faults on page 0
        int caught = 0;
        for (int i = 0; i < 20000; i++) {
            Node node = i % 1000 == 999 ? null : new Node();
            try {
                caught += node.value - 1;
            } catch (NullPointerException expected) {
                caught++;
            }
        }
        return caught;
    }

    private static volatile boolean stop;

    private static long spin() { // a loop without a call: only a poll can stop it for a collection
        long count = 0;
        while (!stop) count++;
        return count;
    }

    private static boolean stopsAtSafepoints() throws Exception {
        Thread spinner = new Thread(Churn::spin);
        spinner.start();
        for (int i = 0; i < 5; i++) {
            Thread.sleep(10);
            System.gc(); // waits until every thread has stopped
        }
        stop = true;
        spinner.join();
        return true;
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("maps " + maps(1, 30));
        System.out.println("arrays " + arrays(2));
        System.out.println("stack overflow " + stackOverflows());
        System.out.println("null pointers " + nullPointers());
        System.out.println("safepoints " + stopsAtSafepoints());
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        List<Future<Long>> results = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            final long seed = 10 + i;
            results.add(pool.submit(() -> maps(seed, 10) + arrays(seed) + (stackOverflows() ? 1 : 0)));
        }
        for (Future<Long> result : results) System.out.println("thread " + result.get());
        pool.shutdown();
    }
}
